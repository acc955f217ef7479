package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.history.Attempt;
import io.foliot.history.Event;
import io.foliot.history.Event.Reception;
import io.foliot.history.HistoryChecker;
import io.foliot.history.Reply;
import io.foliot.history.Request;
import io.foliot.history.Target;
import io.foliot.history.Violation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests that the checker reports one task as lost after {@link TamperedHistory#withoutADelivery}, even if earlier tasks
 * got REFUSED or AGAIN.
 */
final class TamperedHistoryTest {
  private static final long END_MILLIS = 1_000_000;

  private final List<Event> events = new ArrayList<>();

  @Test
  void onlyTheDeliveryOfAnAcceptedTaskIsDropped() {
    delivered(1, Reception.REFUSED, Reply.State.FAILED);
    delivered(2, Reception.AGAIN, Reply.State.FINISHED);
    delivered(3, Reception.SUCCESS, Reply.State.FINISHED);
    events.add(new Event.RunEnded(END_MILLIS));

    assertThat(
        new HistoryChecker(Rig.ALLOWANCES).check(TamperedHistory.withoutADelivery(events)).total(Violation.Kind.LOST))
        .isEqualTo(1);
  }

  /** Adds the events of a task that was submitted, delivered once, and read. */
  private void delivered(long number, Reception reception, Reply.State state) {
    String taskId = "task-" + number;
    long submit = 2 * number;
    long read = submit + 1;
    events.add(new Event.Invoked(submit, number,
        new Request.Submit(Rig.WIDE, null, number, Request.OnConflict.RESET, null)));
    events.add(new Event.Answered(submit, number, new Reply.Placed(Reply.Result.CREATED, taskId, 1, number)));
    events.add(new Event.Began(number, number, new Attempt(taskId, Rig.WIDE, null, 1, taskId, 1, number)));
    events.add(new Event.Replied(number, number, reception));
    events.add(new Event.Invoked(read, number, new Request.Read(new Target.Task(taskId))));
    events.add(new Event.Answered(read, number, new Reply.Found(taskId, 1, state)));
  }
}
