package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.TaskState;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.StoreException;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests the estimates of the jobs of queues. The test delivers the pages of each count. */
final class QueueJobsTest {
  private static final long MAX = 3;
  /** The time after which the jobs are counted again. */
  private static final Duration AGAIN = Duration.ofSeconds(11);

  private final SettableClock clock = new SettableClock();
  private final SplittableRandom random = new SplittableRandom(42);
  private final MemoryStore store = new MemoryStore(1, clock, () -> new Token(random.nextLong(), random.nextLong()));
  private final Deque<Runnable> pages = new ArrayDeque<>();
  private boolean isFailing;
  private final QueueJobs queueJobs = new QueueJobs(new ForwardingStore(store) {
    @Override
    public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
        @Nullable String cursor) {
      assertThat(queue).isEqualTo(Shards.JOBS);
      CompletableFuture<RecordPage> page = new CompletableFuture<>();
      pages.add(() -> {
        if (isFailing) {
          page.completeExceptionally(new StoreException("injected", null));
        } else {
          page.complete(store.query(queue, state, limit, cursor).toCompletableFuture().join());
        }
      });
      return page;
    }
  }, new TestSurroundings(clock, random, (millis, action) -> {
    throw new AssertionError("no timer is needed");
  }));

  /** Creates a job in the store, as another node does. */
  private void exists(String queue, String name) {
    new Jobs(store, (List<Draft> drafts) -> store.submit(drafts).toCompletableFuture())
        .put(Job.named(name).queue(queue).every(Duration.ofHours(1)).build()).join();
  }

  private boolean enter(String queue) {
    return queueJobs.enter(queue, MAX, 100);
  }

  private void create(String queue, String name) {
    assertThat(enter(queue)).isTrue();
    exists(queue, name);
    queueJobs.entered(queue, name, true);
  }

  private void deliverPages() {
    while (!pages.isEmpty()) {
      pages.remove().run();
    }
  }

  @Test
  void noCountIsMadeWhileTheStoreHasFewJobs() {
    for (int i = 0; i < MAX; i++) {
      assertThat(queueJobs.enter("q", MAX, i)).isTrue();
      queueJobs.entered("q", "job-" + i, true);
    }
    assertThat(queueJobs.enter("q", MAX, MAX - 1)).as("jobs of the queue were deleted").isTrue();
    assertThat(pages).isEmpty();
  }

  @Test
  void jobsOfOtherNodesAreFoundByACount() {
    for (int i = 0; i < MAX; i++) {
      exists("q", "job-" + i);
    }
    assertThat(enter("q")).as("the count is not complete yet").isTrue();
    queueJobs.entered("q", "other", false);
    deliverPages();
    assertThat(enter("q")).isFalse();
    assertThat(enter("r")).isTrue();
  }

  @Test
  void jobsThatAreBeingWrittenTakeAPlace() {
    for (int i = 0; i < MAX; i++) {
      assertThat(enter("q")).isTrue();
    }
    assertThat(enter("q")).isFalse();
    queueJobs.entered("q", "exists", false);
    assertThat(enter("q")).isTrue();
    assertThat(queueJobs.enter("q", MAX, 0)).as("the store does not count what is being written").isFalse();
  }

  @Test
  void aJobThatIsCreatedDuringACountIsCountedOnce() {
    assertThat(enter("q")).isTrue();
    exists("q", "first");
    assertThat(pages).as("the count has begun").hasSize(1);
    queueJobs.entered("q", "first", true);
    create("q", "second");
    assertThat(enter("q")).as("this one is written after the count").isTrue();
    deliverPages();
    assertThat(enter("q")).isFalse();
    queueJobs.entered("q", "third", false);
    assertThat(enter("q")).isTrue();
  }

  @Test
  void theNextCountForgetsDeletedJobs() {
    for (int i = 0; i < MAX; i++) {
      create("q", "job-" + i);
    }
    deliverPages();
    new Jobs(store, (List<Draft> drafts) -> store.submit(drafts).toCompletableFuture())
        .delete("job-1", false).join();
    store.cancel(List.of(new TaskRef.ByKey(Shards.JOBS, "job-1"))).toCompletableFuture()
        .join();
    assertThat(enter("q")).isFalse();
    assertThat(pages).as("the latest count is recent").isEmpty();
    clock.advance(AGAIN);
    assertThat(enter("q")).isFalse();
    deliverPages();
    assertThat(enter("q")).isTrue();
  }

  @Test
  void aCountThatFailsIsRepeated() {
    isFailing = true;
    for (int i = 0; i < MAX; i++) {
      create("q", "job-" + i);
    }
    deliverPages();
    assertThat(enter("q")).as("the old estimate stays").isFalse();
    assertThat(pages).isEmpty();
    isFailing = false;
    clock.advance(AGAIN);
    assertThat(enter("q")).isFalse();
    assertThat(pages).hasSize(1);
    deliverPages();
    assertThat(enter("q")).isFalse();
  }
}
