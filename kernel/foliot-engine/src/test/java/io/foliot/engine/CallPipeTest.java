package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

final class CallPipeTest {
  private final LoopRig rig = new LoopRig();
  private final CallPipe pipe = new CallPipe("claim", 2, CallPipe.Effect.WRITE, new Backoff(), rig.inbox, rig.health);
  private final List<CompletableFuture<List<String>>> batches = new ArrayList<>();
  private final List<String> handled = new ArrayList<>();

  private void send() {
    CompletableFuture<List<String>> batch = new CompletableFuture<>();
    batches.add(batch);
    pipe.send(3, rig.nowNanos, () -> batch, (results, nowNanos) -> handled.add(String.valueOf(results)));
  }

  private void fail() {
    batches.removeFirst().completeExceptionally(new StoreException("away", null));
    rig.handle();
  }

  private void succeed() {
    batches.removeFirst().complete(List.of("a", "b", "c"));
    rig.handle();
  }

  @Test
  void noMoreBatchesAreInFlightThanTheLimit() {
    send();
    assertThat(pipe.hasRoom(rig.nowNanos)).isTrue();
    send();
    assertThat(pipe.hasRoom(rig.nowNanos)).isFalse();
    succeed();
    assertThat(pipe.hasRoom(rig.nowNanos)).isTrue();
    assertThat(pipe.isIdle()).isFalse();
    succeed();
    assertThat(pipe.isIdle()).isTrue();
    assertThat(handled).containsExactly("[a, b, c]", "[a, b, c]");
    assertThat(rig.meterCalls).containsExactly("claim 3", "claim 3");
  }

  @Test
  void pausesDoubleWithEachFailureUpToAMaximum() {
    for (long millis : new long[]{20, 40, 80, 160, 320, 640, 1_280, 2_000, 2_000}) {
      send();
      fail();
      rig.advance(millis - 1);
      assertThat(pipe.hasRoom(rig.nowNanos)).as("after %d ms", millis - 1).isFalse();
      rig.advance(1);
      assertThat(pipe.hasRoom(rig.nowNanos)).as("after %d ms", millis).isTrue();
    }
    send();
    succeed();
    send();
    fail();
    rig.advance(20);
    assertThat(pipe.hasRoom(rig.nowNanos)).as("a success resets the pause").isTrue();
  }

  @Test
  void aPartialFailureKeepsTheResultsOfTheOtherItems() {
    send();
    fail();
    rig.advance(20);
    send();
    StoreException away = new StoreException("away", null);
    batches.removeFirst()
        .completeExceptionally(new CompletionException(ItemsFailedException.of(Arrays.asList("a", null, "c"), away)));
    rig.handle();
    assertThat(handled).containsExactly("[null, null, null]", "[a, null, c]");
    assertThat(rig.meterCalls).containsExactly("claim 3 failed", "claim 3 failed");
    assertThat(pipe.hasRoom(rig.nowNanos)).as("a partial failure is followed by a pause").isFalse();
  }

  @Test
  void healthIsUpdatedBeforeTheAnswerIsHandled() {
    rig.health.answered("due", null, rig.nowNanos);
    CompletableFuture<List<String>> batch = new CompletableFuture<>();
    pipe.send(1, rig.nowNanos, () -> batch,
        (results, nowNanos) -> handled.add("serving " + rig.health.isServing(nowNanos)));
    batch.completeExceptionally(new StoreException("away", null));
    rig.handle();
    assertThat(handled).containsExactly("serving false");
  }
}
