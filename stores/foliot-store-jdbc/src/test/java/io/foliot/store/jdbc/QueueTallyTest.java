package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class QueueTallyTest {
  private static final Map<String, QueueCounts> FEW = Map.of("orders", QueueCounts.NONE);
  private static final Map<String, QueueCounts> MORE = Map.of("orders", QueueCounts.NONE, "mails", QueueCounts.NONE);

  private final List<CompletableFuture<Map<String, QueueCounts>>> counts = new ArrayList<>();
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final QueueTally tally = new QueueTally(() -> {
    counts.add(new CompletableFuture<>());
    return counts.getLast();
  }, now::get);

  private CompletableFuture<Map<String, QueueCounts>> call() {
    return tally.counts().toCompletableFuture();
  }

  private void passes(long seconds) {
    now.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  @Test
  void callsShareTheCountThatIsUnderWay() {
    var first = call();
    var second = call();
    assertThat(counts).hasSize(1);
    assertThat(second).isNotDone();
    counts.getFirst().complete(FEW);
    assertThat(first.join()).isEqualTo(FEW);
    assertThat(second.join()).isEqualTo(FEW);
  }

  @Test
  void countsThatTakeLongAreKeptForLonger() {
    assertThat(call()).isNotDone();
    passes(2);
    counts.getFirst().complete(FEW);
    passes(37);
    assertThat(call().join()).isEqualTo(FEW);
    assertThat(counts).hasSize(1);
    passes(1);
    var next = call();
    assertThat(counts).hasSize(2);
    assertThat(next).isNotDone();
    assertThat(call().join()).as("while the next count is under way").isEqualTo(FEW);
    counts.getLast().complete(MORE);
    assertThat(next.join()).isEqualTo(MORE);
    passes(9);
    assertThat(call().join()).isEqualTo(MORE);
    assertThat(counts).hasSize(2);
  }

  @Test
  void aFailureIsKeptForAsLongAsItsCountTook() {
    assertThat(call()).isNotDone();
    passes(15);
    counts.getFirst().completeExceptionally(new StoreException("too slow", null));
    passes(14);
    assertThatThrownBy(() -> call().join()).hasRootCauseMessage("too slow");
    assertThat(counts).hasSize(1);
    passes(1);
    assertThat(call()).isNotDone();
    assertThat(counts).hasSize(2);
  }

  @Test
  void aDatabaseThatWasAwayIsCountedAtOnce() {
    assertThat(call()).isNotDone();
    passes(5);
    counts.getFirst().completeExceptionally(new StoreAwayException("no connection", null));
    var next = call();
    assertThat(counts).hasSize(2);
    counts.getLast().complete(FEW);
    assertThat(next.join()).isEqualTo(FEW);
  }
}
