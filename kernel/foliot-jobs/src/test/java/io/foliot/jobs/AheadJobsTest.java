package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.RecordPage;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that the search for jobs that are ahead of the store's clock leaves the store to the passes. */
final class AheadJobsTest {
  private static final int JOBS = 1_200;
  private static final Duration READ = Duration.ofMillis(20);

  private final SettableClock clock = new SettableClock();
  private final SplittableRandom random = new SplittableRandom(1);
  private final MemoryStore memory = new MemoryStore(16, clock, () -> new Token(random.nextLong(), random.nextLong()));
  private Duration read = READ;
  private int pages;
  private final ForwardingStore store = new ForwardingStore(memory) {
    @Override
    public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
        @Nullable String cursor) {
      pages++;
      clock.advance(read);
      return super.query(queue, state, limit, cursor);
    }
  };
  private final Deque<Runnable> later = new ArrayDeque<>();
  private final List<Long> pauses = new ArrayList<>();
  private final JobSurroundings surroundings = new TestSurroundings(clock, random, (millis, action) -> {
    pauses.add(millis);
    later.add(action);
  });
  private final JobPlanner planner = new JobPlanner(store, JobMeter.NONE, surroundings);

  private void putJobs() {
    Jobs jobs = planner.jobs(drafts -> memory.submit(drafts).toCompletableFuture());
    for (int i = 0; i < JOBS; i++) {
      jobs.put(Job.named("job-" + i).queue("q").every(Duration.ofHours(1)).build()).toCompletableFuture().join();
    }
    later.clear();
    pauses.clear();
    pages = 0;
  }

  @Test
  void aSearchUsesATenthOfTheTime() {
    putJobs();
    planner.clockSetBack();
    assertThat(pages).as("pages that were read before the first pause").isEqualTo(1);
    while (!later.isEmpty()) {
      later.remove().run();
    }
    assertThat(pages).isEqualTo(JOBS / 500 + 1);
    assertThat(pauses).containsExactly(9 * READ.toMillis(), 9 * READ.toMillis());
  }

  @Test
  void aSuspendedProcessDoesNotPauseForHours() {
    putJobs();
    read = Duration.ofHours(3);
    planner.clockSetBack();
    assertThat(pauses).containsExactly(10_000L);
  }

  @Test
  void aClosedPlannerReadsNoFurtherPage() {
    putJobs();
    planner.clockSetBack();
    planner.close();
    later.remove().run();
    assertThat(later).isEmpty();
    planner.clockSetBack();
    assertThat(pages).isEqualTo(1);
  }
}
