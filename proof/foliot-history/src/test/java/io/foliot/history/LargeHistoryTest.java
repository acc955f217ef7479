package io.foliot.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** The checker judges a million events in seconds, and hundreds of thousands of events that are all about one key. */
final class LargeHistoryTest {
  /** Longest permitted duration of a check: seconds suffice on a busy machine, but quadratic cost takes minutes. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final Allowances ALLOWANCES = Allowances.exact(50, 10, 1000);

  @Test
  void eventsOfManyTasksAreJudgedInSeconds() {
    Story story = new Story();
    for (int i = 0; i < 250_000; i++) {
      String task = "t" + i;
      story.submit(i, i + 1, null, task, 1, i + 100).deliveredTask(i + 100 + i % 7, task, 1, 1);
    }
    Verdict verdict = judge(story, 300_000);
    assertThat(verdict.ok()).as(verdict.toString()).isTrue();
    assertThat(verdict.counts().delivered()).isEqualTo(250_000);
    assertThat(verdict.late(Lateness.Phase.FAULT_FREE)).isEqualTo(new Lateness(250_000, 3, 6, 6));
  }

  @Test
  void eventsOfOneKeyAreJudgedInSeconds() {
    Story story = new Story();
    Request.Touch touch = new Request.Touch(Story.QUEUE, "k", 0);
    long now = 0;
    for (int i = 0; i < 30_000; i++) {
      int generation = 10 * i;
      story.created(now, now + 1, "k", generation, now + 10).reset(now + 2, now + 3, "k", generation + 1, now + 20)
          .op(now + 2, now + 3, touch, new Reply.NotFound()).attempt(now + 20, "k", generation + 1, 1,
              Event.Reception.RETRY);
      if (i % 3 == 0) {
        story.unanswered(now + 30, new Request.Reset(Story.QUEUE, "k", now + 31));
      }
      story.cancel(now + 32, now + 33, "k", Reply.CancelResult.CANCELLED).op(now + 34, now + 35, touch,
          new Reply.NotFound()).read(now + 34, now + 35, "k", generation + 1, Reply.State.CANCELLED);
      if (i % 100 == 0) {
        story.fault(now + 21, now + 22, Event.Fault.PAUSE);
      }
      now += 40;
    }
    Verdict verdict = judge(story, now + 10_000);
    assertThat(verdict.ok()).as(verdict.toString()).isTrue();
    assertThat(verdict.counts().operations()).isEqualTo(190_000);
  }

  @Test
  void brokenEventsOfOneKeyAreJudgedInSeconds() {
    Story story = new Story();
    for (int i = 0; i < 100_000; i++) {
      long now = 10L * i;
      story.reset(now, now + 1, "k", 100_000 - i, now + 5).delivered(now + 3, "k", 1, i % 2)
          .cancel(now + 4, now + 5, "k", Reply.CancelResult.CANCELLED);
    }
    assertThat(judge(story, 2_000_000).totals()).isNotEmpty();
  }

  private static Verdict judge(Story story, long endMillis) {
    return Assertions.assertTimeout(LIMIT, () -> story.end(endMillis, ALLOWANCES));
  }
}
