package io.foliot.test;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.foliot.JobRun;
import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import io.foliot.jobs.JobStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the marks and checkpoints that an embedded handler sets, and the phases of a run that it sees. */
final class JobMarksTest {
  private final List<String> ran = new ArrayList<>();

  private static Job.Builder minutely() {
    return Job.named("alarm").queue("billing").every(Duration.ofMinutes(1));
  }

  @Test
  void aHandlerEndsItsJob() {
    try (FoliotTest foliot = FoliotTest.start()) {
      foliot.tasks("billing", String.class).handle((text, attempt) -> {
        ran.add(String.valueOf(attempt.run()));
        attempt.endJob();
        assertThatIllegalStateException().isThrownBy(attempt::runAgain).withMessageContaining("set only once");
      });
      foliot.jobs().put(minutely());
      foliot.advance(Duration.ofMinutes(10));
      assertThat(ran).hasSize(1);
      assertThat(foliot.jobs().find("alarm").orElseThrow().state()).isEqualTo(JobStatus.State.COMPLETED);
    }
  }

  @Test
  void aHandlerSeesThePhasesOfItsRun() {
    try (FoliotTest foliot = FoliotTest.start()) {
      foliot.tasks("billing", String.class).handle((text, attempt) -> {
        JobRun job = requireNonNull(attempt.run());
        ran.add(job.phase() + " " + job.runResult() + " " + job.runFailed() + " of " + job.shards());
      });
      foliot.jobs().put(minutely().shards(2).runListeners(RunPhase.BEFORE, RunPhase.AFTER));
      foliot.advance(Duration.ofSeconds(70));
      assertThat(ran).containsExactly("BEFORE null 0 of 2", "SHARDS null 0 of 2", "SHARDS null 0 of 2",
          "AFTER SUCCEEDED 0 of 2");
    }
  }

  @Test
  void aMarkOfAHandlerThatThrowsIsDropped() {
    try (FoliotTest foliot = FoliotTest.start()) {
      foliot.tasks("billing", String.class).handle((text, attempt) -> {
        ran.add("attempt " + attempt.number());
        attempt.endJob();
        throw new IllegalStateException("broken");
      });
      foliot.jobs().put(minutely().maxAttempts(1));
      foliot.advance(Duration.ofMinutes(5));
      assertThat(ran).hasSizeGreaterThan(2);
    }
  }

  @Test
  void runAgainStartsARunWithTheCheckpoint() {
    try (FoliotTest foliot = FoliotTest.start()) {
      foliot.tasks("billing", String.class).handle((text, attempt) -> {
        ran.add(String.valueOf(attempt.checkpoint()));
        attempt.checkpoint("page " + ran.size());
        if (ran.size() < 3) {
          attempt.runAgain();
        }
      });
      foliot.jobs().put(Job.named("stream").queue("billing").cron("0 2 1 1 *"));
      foliot.jobs().trigger("stream");
      foliot.advance(Duration.ofSeconds(3));
      assertThat(ran).containsExactly("null", "page 1", "page 2");
    }
  }

  @Test
  void endJobIsRefusedInATaskWithoutAJob() {
    try (FoliotTest foliot = FoliotTest.start()) {
      foliot.tasks("billing", String.class).handle((text, attempt) -> {
        assertThatIllegalStateException().isThrownBy(attempt::endJob).withMessageContaining("belongs to no job");
        ran.add(text);
      });
      foliot.tasks("billing", String.class).now().submit("alone");
      foliot.advance(Duration.ofSeconds(1));
      assertThat(ran).containsExactly("alone");
    }
  }
}
