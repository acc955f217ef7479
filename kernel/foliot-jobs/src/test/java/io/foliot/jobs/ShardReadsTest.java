package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.testkit.SettableClock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reads of many passes that share calls. */
final class ShardReadsTest {
  private final List<List<TaskId>> calls = new ArrayList<>();
  private final List<CompletableFuture<List<Optional<TaskRecord>>>> results = new ArrayList<>();
  private int throwing;
  private final ShardReads reads = new ShardReads(new SlowStore());

  /** A store whose results arrive when the test completes them. */
  private final class SlowStore extends ForwardingStore {
    SlowStore() {
      super(new MemoryStore(1, new SettableClock(), () -> new Token(1, 1)));
    }

    @Override
    public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
      if (throwing > 0) {
        throwing--;
        throw new StoreException("closed", null);
      }
      calls.add(ids);
      results.add(new CompletableFuture<>());
      return results.getLast();
    }
  }

  private static List<TaskId> shards(int job, int count) {
    List<TaskId> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ids.add(TaskId.of(1_000, job, i));
    }
    return ids;
  }

  private CompletableFuture<Map<TaskId, ShardEnd>> read(int job, int count) {
    return reads.read(shards(job, count)).toCompletableFuture();
  }

  private void complete(int call) {
    results.get(call).complete(calls.get(call).stream().map(id -> Optional.<TaskRecord>empty()).toList());
  }

  @Test
  void readsThatWaitShareACall() {
    List<CompletableFuture<Map<TaskId, ShardEnd>>> passes = new ArrayList<>();
    for (int job = 0; job < 100; job++) {
      passes.add(read(job, 2));
    }
    assertThat(calls).as("two calls are sent without waiting").hasSize(2);
    complete(0);
    assertThat(calls).hasSize(3);
    assertThat(calls.get(2)).hasSize(98 * 2);
    assertThat(passes.getFirst()).isDone();
    assertThat(passes.get(1)).isNotDone();
    complete(1);
    complete(2);
    assertThat(passes).allMatch(CompletableFuture::isDone);
    for (int job = 0; job < passes.size(); job++) {
      assertThat(passes.get(job).join().keySet()).as("the shards of this read only")
          .containsExactlyInAnyOrderElementsOf(shards(job, 2));
    }
    assertThat(read(7, 1)).isNotDone();
    assertThat(calls).as("a read without others is sent without waiting").hasSize(4);
  }

  @Test
  void aCallHasABoundedNumberOfShards() {
    for (int job = 0; job < 10; job++) {
      assertThat(read(job, 400)).isNotDone();
    }
    complete(0);
    assertThat(calls.get(2)).hasSize(800);
    CompletableFuture<Map<TaskId, ShardEnd>> large = read(11, 5_000);
    while (!large.isDone()) {
      complete(results.size() - 1);
      complete(results.size() - 2);
    }
    assertThat(large.join()).hasSize(5_000);
  }

  @Test
  void aFailedCallFailsItsReadsAndNoOthers() {
    List<CompletableFuture<Map<TaskId, ShardEnd>>> passes = new ArrayList<>();
    for (int job = 0; job < 10; job++) {
      passes.add(read(job, 1));
    }
    complete(0);
    results.get(2).completeExceptionally(new StoreException("lost", null));
    assertThat(passes.subList(2, 10)).allMatch(CompletableFuture::isCompletedExceptionally);
    assertThat(passes.get(1)).isNotDone();
    CompletableFuture<Map<TaskId, ShardEnd>> next = read(20, 1);
    complete(3);
    assertThat(next).isCompletedWithValueMatching(ends -> ends.size() == 1);
  }

  @Test
  void anUnreadableShardFailsOnlyItsReads() {
    List<CompletableFuture<Map<TaskId, ShardEnd>>> passes = new ArrayList<>();
    for (int job = 0; job < 10; job++) {
      passes.add(read(job, 2));
    }
    complete(0);
    List<@Nullable Object> found = new ArrayList<>(Collections.nCopies(calls.get(2).size(), Optional.empty()));
    found.set(5, null);
    results.get(2).completeExceptionally(ItemsFailedException.of(found, new StoreAwayException("newer", null)));
    assertThat(passes.get(4)).as("the read of shard 5 of the call").isCompletedExceptionally();
    for (int job : List.of(2, 3, 5, 6, 7, 8, 9)) {
      assertThat(passes.get(job)).isCompletedWithValueMatching(ends -> ends.size() == 2);
    }
  }

  @Test
  void aReadOfNoShardsMakesNoCall() {
    assertThat(reads.read(List.of()).toCompletableFuture()).isCompletedWithValue(Map.of());
    assertThat(calls).isEmpty();
  }

  @Test
  void aCallThatThrowsFailsItsReadsAndNoOthers() {
    throwing = 3;
    for (int job = 0; job < 3; job++) {
      assertThat(read(job, 1)).isCompletedExceptionally();
    }
    CompletableFuture<Map<TaskId, ShardEnd>> next = read(4, 1);
    complete(0);
    assertThat(next).isCompletedWithValueMatching(ends -> ends.size() == 1);
  }
}
