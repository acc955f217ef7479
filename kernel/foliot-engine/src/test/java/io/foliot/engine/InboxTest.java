package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Stages;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class InboxTest {
  private final LoopRig rig = new LoopRig();
  private final List<String> handled = new ArrayList<>();

  @Test
  void messagesAreHandledInOrderWithTheTime() {
    rig.inbox.post(nowNanos -> handled.add("a" + nowNanos));
    rig.inbox.post(nowNanos -> handled.add("b" + nowNanos));
    rig.nowNanos = 7;
    rig.handle();
    assertThat(handled).containsExactly("a7", "b7");
    assertThat(rig.wakes).isEqualTo(2);
  }

  @Test
  void resultsOfCompletedStagesArriveAsMessages() {
    rig.inbox.after(CompletableFuture.completedFuture("done"), (result, failure, nowNanos) -> handled.add(result));
    assertThat(handled).isEmpty();
    rig.handle();
    assertThat(handled).containsExactly("done");
  }

  @Test
  void throwingCallsBecomeFailures() {
    IllegalStateException thrown = new IllegalStateException("no");
    assertThat(Stages.<String>call(() -> {
      throw thrown;
    }).toCompletableFuture().exceptionNow()).isSameAs(thrown);
  }
}
