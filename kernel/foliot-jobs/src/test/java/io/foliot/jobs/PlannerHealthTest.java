package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.TaskState;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.schedule.Calendar;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A pass that fails says nothing about the planner, to which the passes of all jobs go. */
final class PlannerHealthTest {
  private static final long START = 1_767_225_600_000L;

  private final JobPlanner planner = new JobPlanner(
      new ForwardingStore(new MemoryStore(1, new SettableClock(), () -> new Token(1, 1))) {
        @Override
        public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
          return CompletableFuture.failedFuture(new StoreException("injected", null));
        }

        @Override
        public CompletionStage<List<Document>> documents(DocumentKind kind) {
          throw new StoreException("injected", null);
        }
      }, JobMeter.NONE);

  private Answer pass(int attempt) {
    Calendar days = Calendar.parse(List.of("MON"));
    JobRecord record = JobChange.create(Job.named("report").queue("q").every(Duration.ofMinutes(1))
        .schedule(s -> s.exclude(List.of("days"))).build(), START, name -> days);
    TaskId id = TaskId.of(START, SlotHash.of(Shards.JOBS, "report"), 1);
    TaskRecord task = TaskRecord.edit(id, Shards.JOBS, "report").state(TaskState.RUNNING).token(new Token(1, 2))
        .attempt(attempt).claimedAt(START).generation(1).body(JobPlanner.body(record)).done();
    return planner.deliver(DeliveryAttempt.of(planner.internalQueues().getFirst(), task, "")).toCompletableFuture()
        .join();
  }

  @Test
  void aPassThatFailsLeavesThePlannerWell() {
    assertThat(pass(1)).isInstanceOfSatisfying(Answer.Retry.class,
        retry -> assertThat(retry.health()).isEqualTo(Answer.Health.WELL));
  }

  @Test
  void theLastAttemptOfAPassThatFailsBeginsAgain() {
    assertThat(pass(10_000)).isInstanceOf(Answer.Plan.class);
  }
}
