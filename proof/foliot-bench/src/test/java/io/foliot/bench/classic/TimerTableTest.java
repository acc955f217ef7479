package io.foliot.bench.classic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class TimerTableTest {
  @Test
  void aCellIsUsedAgainUnderAnotherHandle() {
    TimerTable table = new TimerTable();
    Timer first = table.take(1);
    long stale = first.handle();
    table.release(first);
    Timer second = table.take(2);
    assertThat(second).isSameAs(first);
    assertThat(table.find(stale)).isNull();
    assertThat(table.find(second.handle())).isSameAs(second);
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void aCellWhoseGenerationsAreUsedUpIsNeverUsedAgain() {
    TimerTable table = new TimerTable();
    Timer retired = table.take(0);
    retired.generation = -2;
    Set<Long> handles = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      Timer timer = i == 0 ? retired : table.take(i);
      assertThat(timer.handle()).isNotZero();
      assertThat(handles.add(timer.handle())).isTrue();
      table.release(timer);
      handles.forEach(stale -> assertThat(table.find(stale)).isNull());
    }
    assertThat(table.cells()).isEqualTo(2);
    assertThat(retired.live).isFalse();
  }
}
