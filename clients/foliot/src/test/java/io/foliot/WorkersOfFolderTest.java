package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.Scope;
import io.foliot.backends.Await;
import io.foliot.client.JobResult;
import io.foliot.jobs.JobStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@link Foliot#workers} after {@link Foliot#open}. */
final class WorkersOfFolderTest extends JobWorkerContract {
  private static final Duration BOUND = Duration.ofSeconds(60);

  @TempDir
  private Path folder;

  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.open(folder);
  }

  /** The worker of the second process starts only when the overdue times have been examined. */
  @Test
  void theTimesOfADowntimeRunWhenTheWorkersAreBack() {
    Set<String> runs = ConcurrentHashMap.newKeySet();
    try (Foliot foliot = open()) {
      start(foliot, runs);
      Await.until("both jobs run", BOUND, () -> runs.containsAll(Set.of("all", "per-zone")));
    }
    runs.clear();
    try (Foliot foliot = open()) {
      Await.until("the overdue times are decided", BOUND, () -> Stream.of("all", "per-zone").allMatch(name -> {
        JobStatus status = foliot.jobs().find(name).orElseThrow();
        return status.waiting() > 0 || status.totals().noTargets() > 0;
      }));
      start(foliot, runs);
      Await.until("both jobs run again", BOUND, () -> runs.containsAll(Set.of("all", "per-zone")));
      for (String name : List.of("all", "per-zone")) {
        assertThat(foliot.jobs().find(name).orElseThrow().totals().noTargets()).as(name).isZero();
      }
    }
  }

  private static void start(Foliot foliot, Set<String> runs) {
    foliot.workers().of("billing").zone("fra1")
        .declare(Job.named("all").every(Duration.ofSeconds(1)).scope(Scope.ALL))
        .declare(Job.named("per-zone").every(Duration.ofSeconds(1)).scope(Scope.PER_ZONE))
        .handle("all", job -> ran(runs, "all")).handle("per-zone", job -> ran(runs, "per-zone")).start();
  }

  private static JobResult ran(Set<String> runs, String job) {
    runs.add(job);
    return JobResult.done();
  }
}
