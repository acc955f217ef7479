package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.JobHeaders;
import io.foliot.api.TaskNote;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Part of the kit: the notes of handlers, which contain progress, a message, a checkpoint and a log. */
abstract class NoteContract extends RearmContract {
  private static final TaskNote HALF = new TaskNote(0.5, "half", "page 7", "line 1\nline 2");

  private ExtendResult report(TaskRecord claimed, TaskNote note) {
    return one(store().extend(List.of(new Extension(claimed.id(), tokenOf(claimed), HOUR, note))));
  }

  private SettleResult settle(TaskRecord claimed, Outcome outcome, TaskNote note) {
    return one(store().settle(List.of(new AttemptEnd(claimed.id(), claimed.generation(), tokenOf(claimed), outcome,
        claimed.claimedAt(), "detail", note))));
  }

  @Test
  void anExtensionRecordsTheNoteOfARunningTask() {
    TaskRecord running = won(due("a"));
    assertThat(running.note()).isEqualTo(TaskNote.NONE);
    assertThat(report(running, HALF).kind()).isEqualTo(ExtendResult.Kind.EXTENDED);
    assertThat(record(running.id()).note()).isEqualTo(HALF);
    report(running, new TaskNote(0.75, "", null, ""));
    assertThat(record(running.id()).note()).isEqualTo(new TaskNote(0.75, "half", "page 7", "line 1\nline 2"));
    report(running, TaskNote.NONE);
    assertThat(record(running.id()).note().progress()).isEqualTo(0.75);
  }

  @Test
  void theNextAttemptGetsTheNoteOfALostLease() {
    TaskId id = due("a");
    TaskRecord first = won(id, 3 * tickMillis());
    assertThat(one(store().extend(List.of(new Extension(id, tokenOf(first), 1, HALF)))).kind())
        .isEqualTo(ExtendResult.Kind.EXTENDED);
    pass(4);
    TaskRecord second = won(id);
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.note()).isEqualTo(HALF);
  }

  @Test
  void theNextAttemptGetsTheNoteOfAFailure() {
    TaskId id = due("a");
    assertThat(settle(won(id), new Outcome.Retry(Due.NOW), HALF).kind()).isEqualTo(SettleResult.Kind.SETTLED);
    assertThat(record(id).note()).isEqualTo(HALF);
    reopenStore();
    TaskRecord second = won(id);
    assertThat(second.note()).isEqualTo(HALF);
    settled(second, new Outcome.Retry(Due.NOW));
    assertThat(won(id).note()).as("a settle without a note keeps the earlier note").isEqualTo(HALF);
  }

  @Test
  void anEndedTaskKeepsItsNote() {
    for (Outcome outcome : List.of(new Outcome.Finished(), new Outcome.Failed())) {
      TaskId id = due(null);
      assertThat(settle(won(id), outcome, HALF).kind()).isEqualTo(SettleResult.Kind.SETTLED);
      assertThat(record(id).note()).isEqualTo(HALF);
      assertThat(record(id).attempts()).hasSize(1);
    }
    TaskId id = due("a");
    TaskRecord running = won(id);
    report(running, HALF);
    finish(running);
    assertThat(record(id).note()).isEqualTo(HALF);
    assertThat(record(id).attempts()).hasSize(1);
  }

  @Test
  void anotherFiringBeginsWithoutANote() {
    TaskId id = due("a");
    assertThat(settle(won(id), new Outcome.Rearm(Due.NOW), HALF).kind()).isEqualTo(SettleResult.Kind.SETTLED);
    TaskRecord again = won(id);
    assertThat(again.note()).isEqualTo(TaskNote.NONE);
    assertThat(settle(again, new Outcome.Retry(Due.after(HOUR)), HALF).kind()).isEqualTo(SettleResult.Kind.SETTLED);
    touch(key("a"), now());
    assertThat(won(id).note()).as("reset").isEqualTo(TaskNote.NONE);
    TaskId failed = due("b");
    settle(won(failed), new Outcome.Failed(), HALF);
    redrive(failed);
    TaskNote kept = new TaskNote(-1, "", HALF.checkpoint(), "");
    assertThat(won(failed).note()).as("redriven").isEqualTo(kept);
  }

  @Test
  void anInvalidClaimStoresNoNote() {
    TaskId id = due("a");
    TaskRecord first = lost(id);
    TaskRecord second = won(id);
    assertThat(report(first, HALF).kind()).isEqualTo(ExtendResult.Kind.STALE);
    assertThat(settle(first, new Outcome.Finished(), HALF).kind()).isEqualTo(SettleResult.Kind.STALE);
    assertThat(one(store().extend(List.of(new Extension(id, new Token(1, 2), HOUR, HALF)))).kind())
        .isEqualTo(ExtendResult.Kind.STALE);
    assertThat(record(id).note()).isEqualTo(TaskNote.NONE);
    assertThat(settle(second, new Outcome.Retry(Due.NOW), HALF).kind()).isEqualTo(SettleResult.Kind.SETTLED);
    TaskNote late = new TaskNote(0.9, "late", "late", "");
    assertThat(settle(second, new Outcome.Retry(Due.NOW), late).kind()).isEqualTo(SettleResult.Kind.REPEATED);
    assertThat(record(id).note()).isEqualTo(HALF);
  }

  @Test
  void aMarkIsKeptAtTheEndButNotByTheNextAttempt() {
    for (TaskNote.Mark mark : TaskNote.Mark.values()) {
      TaskId id = due(null);
      assertThat(settle(won(id), new Outcome.Finished(), HALF.marked(mark)).kind())
          .isEqualTo(SettleResult.Kind.SETTLED);
      reopenStore();
      assertThat(record(id).note()).isEqualTo(HALF.marked(mark));
    }
    TaskId alone = due(null);
    settle(won(alone), new Outcome.Finished(), TaskNote.NONE.marked(TaskNote.Mark.END_JOB));
    assertThat(record(alone).note()).isEqualTo(TaskNote.NONE.marked(TaskNote.Mark.END_JOB));
    TaskId again = due(null);
    settle(won(again), new Outcome.Retry(Due.NOW), HALF.marked(TaskNote.Mark.END_JOB));
    TaskNote more = new TaskNote(0.75, "", null, "");
    settle(won(again), new Outcome.Finished(), more);
    assertThat(record(again).note()).isEqualTo(more.over(HALF));
    TaskId extended = due(null);
    settle(won(extended), new Outcome.Retry(Due.NOW), HALF.marked(TaskNote.Mark.END_JOB));
    TaskRecord last = won(extended);
    report(last, HALF.marked(TaskNote.Mark.RUN_AGAIN));
    settle(last, new Outcome.Finished(), TaskNote.NONE);
    assertThat(record(extended).note()).as("the last attempt sent no mark at its end").isEqualTo(HALF);
  }

  @Test
  void aShardBeginsWithTheCheckpointOfItsHeader() {
    Body body = new Body(new byte[0], "text/plain", Map.of(JobHeaders.CHECKPOINT, "page 7"));
    TaskId parent = due("a");
    TaskId child = TaskId.of(now(), parent.hash16(), 1);
    Outcome.Rearm rearm = new Outcome.Rearm(Due.after(HOUR), null,
        List.of(new Outcome.Child(child, QUEUE, Due.NOW, body, 0, false)));
    settle(won(parent), rearm, TaskNote.NONE);
    TaskRecord first = won(child);
    assertThat(first.note().checkpoint()).isEqualTo("page 7");
    settle(first, new Outcome.Retry(Due.NOW), new TaskNote(0.5, "half", null, ""));
    assertThat(won(child).note()).isEqualTo(new TaskNote(0.5, "half", "page 7", ""));
  }

  @Test
  void aRedrivenTaskContinuesFromItsCheckpoint() {
    TaskId id = due("a");
    settle(won(id), new Outcome.Failed(), HALF.marked(TaskNote.Mark.RUN_AGAIN));
    redrive(id);
    reopenStore();
    TaskRecord second = won(id);
    assertThat(second.note()).isEqualTo(new TaskNote(-1, "", HALF.checkpoint(), ""));
    settle(second, new Outcome.Failed(), TaskNote.NONE);
    redrive(id);
    assertThat(won(id).note().checkpoint()).as("redriven twice").isEqualTo(HALF.checkpoint());
  }

  @Test
  void aNoteOfMaximumSizeIsKept() {
    TaskNote large = new TaskNote(1, "\u00fc".repeat(TaskNote.MAX_MESSAGE),
        "\ud83d\ude00".repeat(TaskNote.MAX_CHECKPOINT_BYTES / 4), "\u20ac".repeat(TaskNote.MAX_LOG));
    TaskId id = due("a");
    report(won(id), large);
    reopenStore();
    assertThat(record(id).note()).isEqualTo(large);
  }
}
