package io.foliot.history;

import static io.foliot.history.Event.Reception.AGAIN;
import static io.foliot.history.Event.Reception.GONE;
import static io.foliot.history.Event.Reception.REFUSED;
import static io.foliot.history.Event.Reception.RETRY;
import static io.foliot.history.Event.Reception.SUCCESS;
import static io.foliot.history.Reply.CancelResult.ALREADY_FINISHED;
import static io.foliot.history.Reply.CancelResult.CANCELLED;
import static io.foliot.history.Reply.CancelResult.CANCEL_PENDING;
import static io.foliot.history.Story.QUEUE;
import static io.foliot.history.Story.submission;
import static io.foliot.history.Story.taskOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Checks, for each kind of violation, histories that must be reported and similar histories that are legal. */
final class HistoryCheckerTest {
  /** The system waits 50 ms for a receiver's answer, and records the answer within 10 ms. The grace time is 1 s. */
  private static final Allowances EXACT = Allowances.exact(50, 10, 1000);

  private static Story story() {
    return new Story();
  }

  private static void assertLegal(Verdict verdict) {
    assertThat(verdict.ok()).as(verdict.toString()).isTrue();
  }

  private static void assertCaught(Verdict verdict, Violation.Kind... kinds) {
    assertThat(verdict.totals().keySet()).as(verdict.toString()).containsExactlyInAnyOrder(kinds);
    assertThat(verdict.violations()).allSatisfy(violation -> assertThat(violation.evidence()).isNotEmpty());
  }

  // LOST

  @Test
  void anAckedFiringThatNeverArrivesIsLost() {
    Verdict verdict = story().created(0, 5, "k", 1, 100).end(5000);
    assertCaught(verdict, Violation.Kind.LOST);
    assertThat(verdict.counts().lost()).isEqualTo(1);
    assertThat(verdict.toString()).contains("(task task-k, generation 1) was never delivered")
        .contains("dueAtMillis=100");
  }

  @Test
  void aFiringMayStillArriveWithinTheGraceTime() {
    Verdict verdict = story().created(0, 5, "k", 1, 100).end(1099);
    assertLegal(verdict);
    assertThat(verdict.counts().open()).isEqualTo(1);
    assertCaught(story().created(0, 5, "k", 1, 100).end(1100), Violation.Kind.LOST);
  }

  @Test
  void theGraceTimeBeginsAgainAfterAHeal() {
    assertLegal(story().created(0, 5, "k", 1, 100).fault(500, 2000, Event.Fault.KILL).end(2999));
    assertCaught(story().created(0, 5, "k", 1, 100).fault(500, 2000, Event.Fault.KILL).end(3000), Violation.Kind.LOST);
  }

  @Test
  void nothingIsLostDuringAFault() {
    Story story = story().created(0, 5, "k", 1, 100);
    story.history().faultBegan(50, Event.Fault.PARTITION, "for ever");
    assertThat(story.end(100_000).counts().open()).isEqualTo(1);
  }

  @Test
  void aFailedAttemptIsNoEnd() {
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY).end(5000), Violation.Kind.LOST);
    assertCaught(story().created(0, 5, "k", 1, 100).began(100, "k", 1, 1).end(5000), Violation.Kind.LOST);
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, GONE).end(5000), Violation.Kind.LOST);
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(4500, "k", 1, 1, RETRY).end(5000));
  }

  @Test
  void aDeadLetterIsAnEnd() {
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY)
        .read(4000, 4005, "k", 1, Reply.State.FAILED).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, REFUSED).end(5000));
  }

  @Test
  void aTaskFinishedWithoutADeliveryIsLost() {
    assertCaught(story().created(0, 5, "k", 1, 100).read(200, 205, "k", 1, Reply.State.FINISHED).end(300),
        Violation.Kind.LOST);
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, GONE)
        .read(200, 205, "k", 1, Reply.State.FINISHED).end(5000));
  }

  @Test
  void aSupersededFiringNeedNotArrive() {
    assertLegal(story().created(0, 5, "k", 1, 100).reset(50, 55, "k", 2, 200).delivered(200, "k", 2, 1).end(5000));
  }

  @Test
  void theSuccessorMustArrive() {
    assertCaught(story().created(0, 5, "k", 1, 100).pending(99, 105, "k", 2, 200).delivered(101, "k", 1, 1).end(5000),
        Violation.Kind.LOST);
  }

  @Test
  void aCancelledFiringNeedNotArrive() {
    assertLegal(story().created(0, 5, "k", 1, 100).cancel(50, 55, "k", CANCELLED).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).cancel(100, 105, "k", CANCEL_PENDING).end(5000));
  }

  @Test
  void aCancelDoesNotExcuseALaterFiring() {
    assertCaught(story().created(0, 5, "k", 1, 100).cancel(50, 55, "k", CANCELLED).created(60, 65, "k", 70, 100)
        .end(5000), Violation.Kind.LOST);
    assertLegal(story().created(0, 5, "k", 1, 100).cancel(50, 62, "k", CANCELLED).created(60, 65, "k", 70, 100)
        .end(5000));
  }

  @Test
  void anUnknownCancelMayHaveHappened() {
    assertLegal(story().created(0, 5, "k", 1, 100).unanswered(50, new Request.Cancel(Story.key("k"))).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).unanswered(50, new Request.Cancel(Story.key("k")))
        .delivered(100, "k", 1, 1).end(5000));
  }

  @Test
  void anUnknownCancelTakesNoEffectAfterTheGraceTime() {
    assertCaught(story().unanswered(50, new Request.Cancel(Story.key("k"))).created(2000, 2005, "k", 1, 2100)
        .end(10_000), Violation.Kind.LOST);
  }

  @Test
  void anUnknownResetMayHaveHappenedOrNot() {
    assertLegal(story().created(0, 5, "k", 1, 100).lostPut(50, "k", 200).delivered(100, "k", 1, 1).end(9000));
    assertLegal(story().created(0, 5, "k", 1, 100).lostPut(50, "k", 200).delivered(200, "k", 2, 1).end(9000));
    assertCaught(story().created(0, 5, "k", 1, 100).lostPut(50, "k", 200).end(9000), Violation.Kind.LOST);
  }

  @Test
  void anUnknownCreationMayHaveHappenedOrNot() {
    assertLegal(story().lostPut(0, "k", 100).end(9000));
    assertLegal(story().lostPut(0, "k", 100).delivered(100, "k", 1, 1).end(9000));
    assertLegal(story().unanswered(0, submission(null, null, 100)).deliveredTask(100, "t", 1, 1).end(9000));
  }

  @Test
  void aKeyThatIsFreeBeforeTheFiringWasDueShowsALoss() {
    assertCaught(story().created(0, 5, "k", 1, 1000).fault(100, 200, Event.Fault.KILL).created(300, 305, "k", 2, 2000)
        .delivered(2000, "k", 2, 1).end(9000), Violation.Kind.LOST);
    assertLegal(story().created(0, 5, "k", 1, 1000).cancel(50, 60, "k", CANCELLED).created(300, 305, "k", 2, 2000)
        .delivered(2000, "k", 2, 1).end(9000));
  }

  @Test
  void aKeyThatIsFreeWithoutAnAttemptShowsALoss() {
    assertCaught(
        story().created(0, 5, "k", 1, 100).created(300, 305, "k", 2, 2000).delivered(2000, "k", 2, 1).end(9000),
        Violation.Kind.LOST);
    Verdict verdict = story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY).created(300, 305, "k", 2, 2000)
        .delivered(2000, "k", 2, 1).end(9000);
    assertLegal(verdict);
    assertThat(verdict.counts().unproven()).isEqualTo(1);
  }

  @Test
  void aTaskThatIsNotFoundBeforeItsDueTimeIsLost() {
    Request.Touch touch = new Request.Touch(QUEUE, "k", 3000);
    assertCaught(story().created(0, 5, "k", 1, 1000).op(300, 305, touch, new Reply.NotFound()).end(400),
        Violation.Kind.LOST);
    assertCaught(story().created(0, 5, "k", 1, 1000).cancel(300, 305, "k", ALREADY_FINISHED).end(400),
        Violation.Kind.LOST);
    assertLegal(story().created(0, 305, "k", 1, 1000).op(300, 305, touch, new Reply.NotFound()).end(400));
    assertLegal(story().created(0, 5, "k", 1, 300).op(300, 305, touch, new Reply.NotFound()).end(400));
    assertLegal(story().created(0, 5, "k", 1, 1000).unanswered(10, new Request.Cancel(Story.key("k")))
        .op(300, 305, touch, new Reply.NotFound()).end(400));
    assertLegal(story().created(0, 5, "k", 1, 1000).unanswered(10, new Request.RunNow(Story.key("k")))
        .op(300, 305, touch, new Reply.NotFound()).end(400));
  }

  @Test
  void aKeptTaskMustBeDelivered() {
    Reply kept = new Reply.Placed(Reply.Result.KEPT, taskOf("k"), 7, 100);
    assertCaught(story().lostPut(0, "k", 100).op(20, 25, submission("k", null, 300), kept).end(5000),
        Violation.Kind.LOST);
    assertLegal(story().lostPut(0, "k", 100).op(20, 25, submission("k", null, 300), kept).delivered(100, "k", 7, 1)
        .end(5000));
  }

  @Test
  void anAnswerKeptMayNameTheTimeOfARetry() {
    Reply kept = new Reply.Placed(Reply.Result.KEPT, taskOf("k"), 7, 200);
    assertLegal(
        story().lostPut(0, "k", 100).attempt(100, "k", 7, 1, RETRY).op(120, 125, submission("k", null, 300), kept)
            .delivered(200, "k", 7, 2).end(5000));
  }

  // EARLY

  @Test
  void anAttemptBeforeItsDueTimeIsEarly() {
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(99, "k", 1, 1).end(5000), Violation.Kind.EARLY);
    assertLegal(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).end(5000));
  }

  @Test
  void clocksMayDifferByTheAllowance() {
    Allowances loose = new Allowances(3, 0, 50, 10, 1000, false);
    assertLegal(story().created(0, 5, "k", 1, 100).delivered(97, "k", 1, 1).end(5000, loose));
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(96, "k", 1, 1).end(5000, loose), Violation.Kind.EARLY);
  }

  @Test
  void aDueTimeBeforeTheRequestedOneIsEarly() {
    assertCaught(story().op(0, 5, new Request.Reset(QUEUE, "k", 100),
        new Reply.Placed(Reply.Result.CREATED, taskOf("k"), 1, 90)).delivered(100, "k", 1, 1).end(5000),
        Violation.Kind.EARLY);
  }

  @Test
  void aDeliveryMustNotNameAFutureDueTime() {
    assertCaught(story().created(0, 5, "k", 1, 100)
        .attempt(100, new Attempt(taskOf("k"), QUEUE, "k", 1, "f", 1, 101), SUCCESS).end(5000), Violation.Kind.EARLY);
  }

  @Test
  void runNowMakesAGenerationThatIsDueAtOnce() {
    Request run = new Request.RunNow(new Target.Task(taskOf("k")));
    Reply reset = new Reply.Placed(Reply.Result.RESET, taskOf("k"), 2, 42);
    assertLegal(story().created(0, 5, "k", 1, 100).op(40, 45, run, reset).delivered(43, "k", 2, 1).end(5000));
    assertLegal(
        story().created(0, 5, "k", 1, 100).op(40, 45, run, new Reply.Done()).delivered(43, "k", 2, 1).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).unanswered(40, run).delivered(43, "k", 2, 1).end(5000));
    assertLegal(story().unanswered(0, submission(null, null, 100)).unanswered(40, new Request.RunNow(
        new Target.Task("t"))).deliveredTask(43, "t", 2, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 100).op(40, 45, run, reset).delivered(41, "k", 2, 1).end(5000),
        Violation.Kind.EARLY);
    assertCaught(story().created(0, 5, "k", 1, 100).op(40, 45, run, new Reply.Failed("409")).delivered(43, "k", 2, 1)
        .delivered(100, "k", 1, 1).end(5000), Violation.Kind.GHOST, Violation.Kind.FENCE);
  }

  @Test
  void aTaskOfAnUnansweredOperationMustNotBeEarly() {
    assertCaught(story().lostPut(0, "k", 100).delivered(99, "k", 1, 1).end(5000), Violation.Kind.EARLY);
    assertCaught(story().unanswered(0, submission(null, null, 100)).deliveredTask(99, "t", 1, 1).end(5000),
        Violation.Kind.EARLY);
  }

  // CANCEL

  @Test
  void anAttemptAfterCancelledIsCaught() {
    assertCaught(story().created(0, 5, "k", 1, 100).cancel(50, 55, "k", CANCELLED).delivered(100, "k", 1, 1).end(5000),
        Violation.Kind.CANCEL);
    assertCaught(story().created(0, 5, "k", 1, 100).cancel(99, 101, "k", CANCELLED).delivered(102, "k", 1, 1).end(5000),
        Violation.Kind.CANCEL);
    assertCaught(story().submit(0, 5, null, "t", 1, 100).op(50, 55, new Request.Cancel(new Target.Task("t")),
        new Reply.Cancelled(CANCELLED, Reply.NO_GENERATION)).deliveredTask(100, "t", 1, 1).end(5000),
        Violation.Kind.CANCEL);
  }

  @Test
  void anAttemptBeforeTheReplyIsLegal() {
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY).cancel(101, 105, "k", CANCELLED)
        .end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).cancel(99, 105, "k", CANCELLED).delivered(105, "k", 1, 1).end(5000));
  }

  @Test
  void anAttemptMayArriveLaterByTheTransitTime() {
    Allowances slow = new Allowances(0, 5, 50, 10, 1000, false);
    assertLegal(story().created(0, 5, "k", 1, 100).cancel(99, 105, "k", CANCELLED).delivered(110, "k", 1, 1)
        .end(5000, slow));
    assertCaught(story().created(0, 5, "k", 1, 100).cancel(99, 105, "k", CANCELLED).delivered(111, "k", 1, 1)
        .end(5000, slow), Violation.Kind.CANCEL);
  }

  @Test
  void anAttemptDelayedByAPartitionMayArriveAfterTheReply() {
    assertLegal(story().created(0, 5, "k", 1, 100).fault(99, 300, Event.Fault.PARTITION)
        .cancel(150, 155, "k", CANCELLED).delivered(300, "k", 1, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 100).fault(99, 300, Event.Fault.KILL)
        .cancel(150, 155, "k", CANCELLED).delivered(300, "k", 1, 1).end(5000), Violation.Kind.CANCEL);
  }

  @Test
  void anEarlierClaimMayDeliverAfterCancelPending() {
    assertLegal(story().created(0, 5, "k", 1, 100).cancel(101, 105, "k", CANCEL_PENDING).delivered(120, "k", 1, 1)
        .end(5000));
  }

  @Test
  void anAttemptOfANewClaimAfterCancelPendingIsCaught() {
    assertCaught(story().created(0, 5, "k", 1, 100).cancel(101, 105, "k", CANCEL_PENDING).attempt(120, "k", 1, 1, RETRY)
        .delivered(150, "k", 1, 2).end(5000), Violation.Kind.CANCEL);
    assertLegal(story().created(0, 5, "k", 1, 100).fault(100, 110, Event.Fault.PAUSE)
        .cancel(111, 115, "k", CANCEL_PENDING).attempt(120, "k", 1, 1, RETRY).delivered(150, "k", 1, 2).end(5000));
  }

  @Test
  void aPendingCancelDropsTheSuccessor() {
    assertCaught(story().created(0, 5, "k", 1, 100).pending(101, 105, "k", 2, 200).cancel(110, 115, "k", CANCEL_PENDING)
        .delivered(116, "k", 1, 1).delivered(200, "k", 2, 1).end(5000), Violation.Kind.CANCEL);
  }

  @Test
  void anUnknownOrRefusedCancelExcludesNothing() {
    assertLegal(story().created(0, 5, "k", 1, 100).unanswered(50, new Request.Cancel(Story.key("k")))
        .delivered(100, "k", 1, 1).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100)
        .op(50, 55, new Request.Cancel(Story.key("k")), new Reply.Failed("403")).delivered(100, "k", 1, 1).end(5000));
  }

  @Test
  void aCancelThatOverlapsTheCreationMayHaveComeFirst() {
    assertLegal(story().created(0, 5, "k", 1, 100).created(50, 60, "k", 2, 150).cancel(55, 65, "k", CANCELLED)
        .delivered(150, "k", 2, 1).end(5000));
    assertCaught(
        story().created(0, 5, "k", 1, 100).cancel(3, 65, "k", CANCELLED, 1).delivered(150, "k", 1, 1).end(5000),
        Violation.Kind.CANCEL);
  }

  @Test
  void anAttemptLeftByAnEarlierFinalTaskMayStillBegin() {
    assertLegal(story().created(0, 5, "k", 1, 100).fault(100, 300, Event.Fault.PAUSE).delivered(200, "k", 1, 2)
        .created(210, 215, "k", 2, 9000).cancel(220, 225, "k", CANCELLED).delivered(300, "k", 1, 1).end(5000));
  }

  // STALE

  @Test
  void anOldGenerationAfterResetIsCaught() {
    assertCaught(story().created(0, 5, "k", 1, 100).reset(50, 55, "k", 2, 200).delivered(100, "k", 1, 1)
        .delivered(200, "k", 2, 1).end(5000), Violation.Kind.STALE);
    assertCaught(story().created(0, 5, "k", 1, 100).reset(99, 101, "k", 2, 200).delivered(102, "k", 1, 1)
        .delivered(200, "k", 2, 1).end(5000), Violation.Kind.STALE);
    assertCaught(story().created(0, 5, "k", 1, 100).pending(99, 101, "k", 2, 200).reset(110, 115, "k", 3, 200)
        .delivered(120, "k", 1, 1).delivered(200, "k", 3, 1).end(5000), Violation.Kind.STALE);
  }

  @Test
  void anOldGenerationMayBeginUntilTheReply() {
    assertLegal(story().created(0, 5, "k", 1, 100).reset(99, 105, "k", 2, 200).delivered(105, "k", 1, 1)
        .delivered(200, "k", 2, 1).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100)
        .op(99, 200, new Request.Touch(QUEUE, "k", 300), new Reply.Placed(Reply.Result.RESET, taskOf("k"), 2, 300))
        .attempt(100, "k", 1, 1, RETRY).delivered(300, "k", 2, 1).end(5000));
  }

  @Test
  void anEarlierClaimMayDeliverAfterResetPending() {
    assertLegal(story().created(0, 5, "k", 1, 100).pending(101, 105, "k", 2, 200).delivered(120, "k", 1, 1)
        .delivered(200, "k", 2, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 100).pending(101, 105, "k", 2, 300).attempt(120, "k", 1, 1, RETRY)
        .delivered(150, "k", 1, 2).delivered(300, "k", 2, 1).end(5000), Violation.Kind.STALE);
  }

  @Test
  void aPendingResetExcludesAGenerationThatWasNotDue() {
    assertCaught(story().created(0, 5, "k", 1, 100).pending(101, 105, "k", 2, 300).pending(106, 110, "k", 3, 400)
        .delivered(120, "k", 1, 1).delivered(300, "k", 2, 1).delivered(400, "k", 3, 1).end(5000), Violation.Kind.STALE);
  }

  @Test
  void overlappingResetsAreOrderedByTheirGenerations() {
    assertLegal(story().created(0, 5, "k", 1, 500).reset(50, 90, "k", 3, 200).reset(55, 60, "k", 2, 100)
        .delivered(200, "k", 3, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 500).reset(50, 60, "k", 3, 200).reset(55, 90, "k", 2, 100)
        .delivered(100, "k", 2, 1).delivered(200, "k", 3, 1).end(5000), Violation.Kind.STALE);
  }

  @Test
  void anAttemptLeftByAnEarlierFinalTaskMayBeginAfterAReset() {
    assertLegal(story().created(0, 5, "k", 1, 100).fault(100, 300, Event.Fault.PAUSE).delivered(200, "k", 1, 2)
        .created(210, 215, "k", 2, 400).reset(220, 225, "k", 3, 500).delivered(300, "k", 1, 1).delivered(500, "k", 3, 1)
        .end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).fault(100, 300, Event.Fault.PAUSE).delivered(200, "k", 1, 2)
        .lostPut(210, "k", 400).reset(220, 225, "k", 3, 500).delivered(300, "k", 1, 1).delivered(500, "k", 3, 1)
        .end(5000));
  }

  // FIRING

  @Test
  void oneFiringHasOneId() {
    assertCaught(story().created(0, 5, "k", 1, 100)
        .attempt(100, new Attempt(taskOf("k"), QUEUE, "k", 1, "f1", 1, 100), RETRY)
        .attempt(200, new Attempt(taskOf("k"), QUEUE, "k", 1, "f2", 2, 100), SUCCESS).end(5000), Violation.Kind.FIRING);
    assertCaught(story().created(0, 5, "k", 1, 100).created(0, 5, "l", 1, 100)
        .attempt(100, new Attempt(taskOf("k"), QUEUE, "k", 1, "f", 1, 100), SUCCESS)
        .attempt(100, new Attempt(taskOf("l"), QUEUE, "l", 1, "f", 1, 100), SUCCESS).end(5000), Violation.Kind.FIRING);
  }

  @Test
  void aFiringBelongsToOneKey() {
    assertCaught(story().created(0, 5, "k", 1, 100)
        .attempt(100, new Attempt(taskOf("k"), QUEUE, "l", 1, "f", 1, 100), SUCCESS).end(5000), Violation.Kind.FIRING);
    assertCaught(story().created(0, 5, "k", 1, 100)
        .attempt(100, new Attempt(taskOf("k"), "p", "k", 1, "f", 1, 100), SUCCESS).end(5000), Violation.Kind.FIRING);
  }

  @Test
  void generationsIncrease() {
    assertCaught(story().created(0, 5, "k", 2, 100).delivered(100, "k", 2, 1).created(200, 205, "k", 2, 300)
        .delivered(300, "k", 2, 2).end(5000), Violation.Kind.FIRING, Violation.Kind.ZOMBIE);
    assertCaught(story().created(0, 5, "k", 2, 100).delivered(100, "k", 2, 1).created(200, 205, "k", 1, 300)
        .delivered(300, "k", 1, 1).end(5000), Violation.Kind.FIRING, Violation.Kind.FENCE, Violation.Kind.STALE);
    assertLegal(story().created(0, 205, "k", 2, 300).reset(200, 205, "k", 3, 400).delivered(400, "k", 3, 1).end(5000));
  }

  @Test
  void twoTasksOfAKeyDoNotShareAGeneration() {
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1)
        .op(200, 205, submission("k", null, 300), new Reply.Placed(Reply.Result.CREATED, "other", 1, 300))
        .attempt(300, new Attempt("other", QUEUE, "k", 1, "o", 1, 300), SUCCESS).end(5000), Violation.Kind.FIRING);
  }

  @Test
  void anAnswerDoesNotNameAGenerationBeforeAReset() {
    assertCaught(story().created(0, 5, "k", 1, 300).reset(50, 55, "k", 2, 400).read(60, 65, "k", 1, Reply.State.LIVE)
        .delivered(400, "k", 2, 1).end(5000), Violation.Kind.FIRING);
    assertLegal(story().created(0, 5, "k", 1, 300).reset(50, 65, "k", 2, 400).read(60, 65, "k", 1, Reply.State.LIVE)
        .delivered(400, "k", 2, 1).end(5000));
  }

  @Test
  void anIdempotencyKeyMakesOneTask() {
    assertLegal(story().submit(0, 5, "i", "t", 1, 100).submit(10, 15, "i", "t", 1, 100).deliveredTask(100, "t", 1, 1)
        .submit(200, 205, "i", "t", 1, 100).end(5000));
    assertLegal(story().submit(0, 5, "i", "t", 1, 100).op(10, 15, submission(null, "i", 110),
        new Reply.Placed(Reply.Result.REPEATED, "t", 1, 100)).deliveredTask(100, "t", 1, 1).end(5000));
    assertLegal(story().unanswered(0, submission(null, "i", 100)).deliveredTask(101, "t", 1, 1)
        .submit(200, 205, "i", "t", 1, 100).end(5000));
    assertCaught(story().submit(0, 5, "i", "t", 1, 100).submit(10, 15, "i", "u", 1, 100).deliveredTask(100, "t", 1, 1)
        .deliveredTask(100, "u", 1, 1).end(5000), Violation.Kind.FIRING);
  }

  // DUP

  @Test
  void aDuplicateIsAViolationOnlyInARunWithoutFaults() {
    Verdict verdict = story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).delivered(105, "k", 1, 2).end(5000);
    assertLegal(verdict);
    assertThat(verdict.counts().duplicates()).isEqualTo(1);
    assertThat(verdict.counts().duplicatesOutsideFaults()).isEqualTo(1);
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).delivered(105, "k", 1, 2).end(5000,
        EXACT.withoutFaults()), Violation.Kind.DUP);
  }

  @Test
  void aFaultExplainsADuplicate() {
    Verdict verdict = story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).fault(101, 300, Event.Fault.KILL)
        .delivered(400, "k", 1, 2).end(5000);
    assertLegal(verdict);
    assertThat(verdict.counts().duplicates()).isEqualTo(1);
    assertThat(verdict.counts().duplicatesOutsideFaults()).isZero();
  }

  @Test
  void anUnreadSuccessMayBeFollowedByAnother() {
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, GONE).delivered(200, "k", 1, 2).end(5000,
        EXACT.withoutFaults()));
    Story story = story().created(0, 5, "k", 1, 100);
    long slow = story.history().began(100,
        new Attempt(taskOf("k"), QUEUE, "k", 1, Story.firingId(taskOf("k"), 1), 1, 100));
    story.history().replied(slow, 151, SUCCESS);
    assertLegal(story.delivered(200, "k", 1, 2).end(5000, EXACT.withoutFaults()));
  }

  // ZOMBIE

  @Test
  void aDeliveryLongAfterTheSuccessIsAZombie() {
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).attempt(112, "k", 1, 2, RETRY).end(5000),
        Violation.Kind.ZOMBIE);
    assertLegal(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).attempt(111, "k", 1, 2, RETRY).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 100).fault(90, 99, Event.Fault.KILL).delivered(100, "k", 1, 1)
        .delivered(300, "k", 1, 2).end(5000), Violation.Kind.ZOMBIE);
  }

  @Test
  void aFaultExplainsALateDelivery() {
    assertLegal(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).fault(101, 110, Event.Fault.KILL)
        .delivered(2000, "k", 1, 2).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).fault(100, 150, Event.Fault.PAUSE).delivered(160, "k", 1, 2)
        .delivered(300, "k", 1, 1).end(5000));
  }

  @Test
  void anUnrecordedSuccessIsFollowedByAnyNumberOfAttempts() {
    assertLegal(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).attempt(105, "k", 1, 2, RETRY)
        .attempt(300, "k", 1, 3, RETRY).delivered(600, "k", 1, 4).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).delivered(105, "k", 1, 2)
        .attempt(300, "k", 1, 3, RETRY).end(5000), Violation.Kind.ZOMBIE);
  }

  @Test
  void aDeliveryAfterAFinalStateIsAZombie() {
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY)
        .read(200, 205, "k", 1, Reply.State.FAILED).attempt(300, "k", 1, 2, RETRY).end(5000), Violation.Kind.ZOMBIE);
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY)
        .read(200, 205, "k", 1, Reply.State.LIVE).delivered(300, "k", 1, 2).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY).attempt(204, "k", 1, 2, RETRY)
        .read(200, 205, "k", 1, Reply.State.FAILED).end(5000));
  }

  @Test
  void aFinalStateDoesNotChange() {
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1)
        .read(200, 205, "k", 1, Reply.State.FINISHED).read(210, 215, "k", 1, Reply.State.FAILED).end(5000),
        Violation.Kind.ZOMBIE);
    assertLegal(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).read(99, 110, "k", 1, Reply.State.FINISHED)
        .read(99, 115, "k", 1, Reply.State.LIVE).read(210, 215, "k", 1, Reply.State.FINISHED).end(5000));
  }

  // GHOST

  @Test
  void aDeliveryWithoutASubmitIsAGhost() {
    assertCaught(story().deliveredTask(100, "t", 1, 1).end(5000), Violation.Kind.GHOST);
    assertCaught(story().delivered(100, "k", 1, 1).end(5000), Violation.Kind.GHOST);
    assertCaught(story().op(0, 5, submission("k", null, 100), new Reply.Failed("409")).delivered(100, "k", 1, 1)
        .end(5000), Violation.Kind.GHOST);
    assertCaught(story().delivered(100, "k", 1, 1).lostPut(101, "k", 100).end(5000), Violation.Kind.GHOST);
    assertCaught(story().created(100, 105, "k", 1, 50).delivered(99, "k", 1, 1).end(5000), Violation.Kind.GHOST);
  }

  @Test
  void anUnknownOperationExplainsOneFiring() {
    assertLegal(story().lostPut(0, "k", 100).lostPut(10, "k", 200).delivered(100, "k", 1, 1).delivered(200, "k", 2, 1)
        .end(5000));
    assertCaught(story().lostPut(0, "k", 100).delivered(100, "k", 1, 1).delivered(200, "k", 2, 1).end(5000),
        Violation.Kind.GHOST);
    assertCaught(story().unanswered(0, submission(null, null, 100)).deliveredTask(100, "t", 1, 1)
        .deliveredTask(200, "u", 1, 1).end(5000), Violation.Kind.GHOST);
    assertCaught(story().unanswered(0, submission(null, "i", 100)).submit(10, 15, "i", "t", 1, 100)
        .deliveredTask(100, "t", 1, 1).deliveredTask(200, "u", 1, 1).end(5000), Violation.Kind.GHOST);
  }

  @Test
  void aRedriveMakesANewGeneration() {
    Story failed = story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, REFUSED);
    assertLegal(failed.op(200, 205, new Request.Redrive(QUEUE, null), new Reply.Done()).delivered(210, "k", 2, 1)
        .end(5000));
    assertCaught(
        story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, REFUSED).delivered(210, "k", 2, 1).end(5000),
        Violation.Kind.GHOST);
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, REFUSED)
        .op(200, 205, new Request.Redrive(QUEUE, taskOf("k")),
            new Reply.Placed(Reply.Result.CREATED, taskOf("k"), 2, 205))
        .end(5000), Violation.Kind.LOST);
  }

  @Test
  void anAnswerAgainMakesAGeneration() {
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, AGAIN).delivered(150, "k", 2, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 100).delivered(100, "k", 1, 1).delivered(150, "k", 2, 1).end(5000),
        Violation.Kind.GHOST);
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, AGAIN).delivered(150, "k", 1, 2).end(5000),
        Violation.Kind.ZOMBIE);
  }

  // FENCE

  @Test
  void anAttemptNumberIsUsedOnce() {
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY).fault(150, 160, Event.Fault.KILL)
        .delivered(200, "k", 1, 1).end(5000), Violation.Kind.FENCE);
    assertLegal(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 1, RETRY).delivered(200, "k", 1, 3).end(5000));
  }

  @Test
  void attemptsDoNotGoBackWithoutAFault() {
    assertCaught(story().created(0, 5, "k", 1, 100).attempt(100, "k", 1, 2, RETRY).delivered(200, "k", 1, 1).end(5000),
        Violation.Kind.FENCE);
    assertLegal(story().created(0, 5, "k", 1, 100).fault(100, 150, Event.Fault.PAUSE).attempt(160, "k", 1, 2, RETRY)
        .delivered(200, "k", 1, 1).end(5000));
  }

  @Test
  void anOldGenerationDoesNotBeginAfterItsSuccessor() {
    assertCaught(story().created(0, 5, "k", 1, 100).pending(101, 105, "k", 2, 200).delivered(200, "k", 2, 1)
        .delivered(210, "k", 1, 1).end(5000), Violation.Kind.FENCE);
  }

  // Lateness, and invalid histories

  @Test
  void latenessIsSplitByFaults() {
    Verdict verdict = story().created(0, 5, "a", 1, 100).delivered(103, "a", 1, 1).fault(1000, 2000, Event.Fault.KILL)
        .created(0, 5, "b", 1, 1500).delivered(2300, "b", 1, 1).created(0, 5, "c", 1, 2500).delivered(2507, "c", 1, 1)
        .created(0, 5, "d", 1, 4000).delivered(4001, "d", 1, 1).end(9000);
    assertLegal(verdict);
    assertThat(verdict.late(Lateness.Phase.FAULT_FREE)).isEqualTo(new Lateness(2, 1, 3, 3));
    assertThat(verdict.late(Lateness.Phase.DURING_FAULT)).isEqualTo(new Lateness(1, 800, 800, 800));
    assertThat(verdict.late(Lateness.Phase.AFTER_HEAL)).isEqualTo(new Lateness(1, 7, 7, 7));
  }

  @Test
  void aHistoryWithoutEndIsRefused() {
    History history = story().created(0, 5, "k", 1, 100).history();
    assertThatThrownBy(() -> new HistoryChecker(EXACT).check(history)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("end of its run");
  }

  @Test
  void aFaultInAFaultFreeRunIsRefused() {
    Story story = story().fault(0, 1, Event.Fault.OTHER);
    assertThatThrownBy(() -> story.end(10, EXACT.withoutFaults())).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void manyViolationsAreCountedButNotAllKept() {
    Story story = story();
    for (int i = 0; i < 3 * Verdict.MAX_PER_KIND; i++) {
      story.created(0, 5, "k" + i, 1, 100);
    }
    Verdict verdict = story.end(5000);
    assertThat(verdict.total(Violation.Kind.LOST)).isEqualTo(3 * Verdict.MAX_PER_KIND);
    assertThat(verdict.violations()).hasSize(Verdict.MAX_PER_KIND);
    assertThat(verdict.toString().lines().count()).isLessThan(50);
  }

  // Losses that the durability class of a store permits

  @Test
  void ackedWritesBeforeTheWindowMustSurviveALoss() {
    Story story = story().created(0, 5, "k", 1, 2500).forgot(2000, 1000);
    assertCaught(story.end(5000), Violation.Kind.LOST);
    assertCaught(story().created(0, 999, "k", 1, 2500).forgot(2000, 1000).end(5000), Violation.Kind.LOST);
  }

  @Test
  void ackedWritesWithinTheWindowMayBeLost() {
    Verdict verdict = story().created(0, 1000, "k", 1, 2500).submit(1500, 1510, null, "t", 1, 2500).forgot(2000, 1000)
        .end(5000);
    assertLegal(verdict);
    assertThat(verdict.counts().excused()).isEqualTo(2);
    assertThat(verdict.counts().acked()).isZero();
    assertLegal(story().created(0, 1000, "k", 1, 2500).forgot(2000, 1000).delivered(2500, "k", 1, 1).end(5000));
  }

  @Test
  void ackedWritesAfterALossAreNotExcusedByIt() {
    assertCaught(story().forgot(2000, 1000).created(2100, 2105, "k", 1, 2500).end(5000), Violation.Kind.LOST);
  }

  @Test
  void aTaskMayContinueAfterAForgottenReset() {
    assertLegal(story().created(0, 5, "k", 1, 2500).reset(1500, 1505, "k", 2, 2600).forgot(2000, 1000)
        .delivered(2500, "k", 1, 1).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 2500).reset(1500, 1505, "k", 2, 2600).forgot(2000, 1000)
        .delivered(2600, "k", 2, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 2500).reset(1500, 1505, "k", 2, 2600).forgot(2000, 1000).end(9000),
        Violation.Kind.LOST);
    assertCaught(story().created(0, 5, "k", 1, 1500).reset(900, 905, "k", 2, 2600).forgot(2000, 1000)
        .delivered(2500, "k", 1, 1).delivered(2600, "k", 2, 1).end(5000), Violation.Kind.STALE);
  }

  @Test
  void aTaskMayContinueAfterAForgottenCancel() {
    assertLegal(story().created(0, 5, "k", 1, 2500).cancel(1500, 1505, "k", CANCELLED).forgot(2000, 1000)
        .delivered(2500, "k", 1, 1).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 2500).cancel(1500, 1505, "k", CANCELLED).forgot(2000, 1000).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 2500).cancel(900, 905, "k", CANCELLED).forgot(2000, 1000)
        .delivered(2500, "k", 1, 1).end(5000), Violation.Kind.CANCEL);
  }

  @Test
  void aForgottenAttemptNumberMayBeReused() {
    assertLegal(story().created(0, 5, "k", 1, 1500).delivered(1500, "k", 1, 1).forgot(2000, 1000)
        .delivered(2200, "k", 1, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 500).delivered(500, "k", 1, 1).forgot(2000, 1000)
        .delivered(2200, "k", 1, 1).end(5000), Violation.Kind.FENCE);
  }

  @Test
  void aForgottenGenerationDoesNotFenceOlderOnes() {
    assertLegal(story().created(0, 5, "k", 1, 3000).reset(1500, 1505, "k", 2, 1600).delivered(1600, "k", 2, 1)
        .forgot(2000, 1000).delivered(3200, "k", 1, 1).end(5000));
    assertLegal(story().created(0, 5, "k", 1, 1500).attempt(1600, "k", 1, 2, RETRY).forgot(2000, 1000)
        .delivered(3200, "k", 1, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 500).attempt(600, "k", 1, 2, RETRY).forgot(2000, 1000)
        .delivered(3200, "k", 1, 1).end(5000), Violation.Kind.FENCE);
  }

  @Test
  void aForgottenEndDoesNotCount() {
    assertLegal(story().created(0, 5, "k", 1, 1500).delivered(1500, "k", 1, 1)
        .read(1600, 1605, "k", 1, Reply.State.FINISHED).forgot(2000, 1000).delivered(2200, "k", 1, 1)
        .read(2300, 2305, "k", 1, Reply.State.FAILED).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 500).delivered(500, "k", 1, 1)
        .read(600, 605, "k", 1, Reply.State.FINISHED).forgot(2000, 1000)
        .read(2300, 2305, "k", 1, Reply.State.FAILED).end(5000), Violation.Kind.ZOMBIE);
  }

  @Test
  void aForgottenAnswerAgainMayMakeAnotherGeneration() {
    assertLegal(story().created(0, 5, "k", 1, 1500).attempt(1500, "k", 1, 1, AGAIN).delivered(1600, "k", 2, 1)
        .forgot(2000, 1000).attempt(2200, "k", 1, 1, AGAIN).delivered(2300, "k", 3, 1).end(5000));
    assertCaught(story().created(0, 5, "k", 1, 500).attempt(500, "k", 1, 1, AGAIN).delivered(600, "k", 2, 1)
        .forgot(2000, 1000).delivered(2300, "k", 3, 1).end(5000), Violation.Kind.GHOST);
  }

  @Test
  void aForgottenIdempotencyKeyMayMakeAnotherTask() {
    assertLegal(story().submit(1500, 1505, "i", "t", 1, 2500).forgot(2000, 1000).submit(2100, 2105, "i", "u", 1, 2500)
        .deliveredTask(2500, "u", 1, 1).end(5000));
    assertLegal(story().submit(1500, 1505, "i", "t", 1, 1600).deliveredTask(1600, "t", 1, 1).forgot(2000, 1000)
        .submit(2100, 2105, "i", "u", 1, 2500).deliveredTask(2500, "u", 1, 1).end(5000));
    assertCaught(story().submit(900, 905, "i", "t", 1, 2500).forgot(2000, 1000)
        .submit(2100, 2105, "i", "u", 1, 2500).deliveredTask(2500, "t", 1, 1).deliveredTask(2500, "u", 1, 1).end(5000),
        Violation.Kind.FIRING);
  }

  @Test
  void aLossExcusesNeitherEarlyNorGhostDeliveries() {
    assertCaught(story().created(1500, 1505, "k", 1, 2500).forgot(2000, 1000).delivered(2400, "k", 1, 1).end(5000),
        Violation.Kind.EARLY);
    assertCaught(story().forgot(2000, 1000).delivered(2400, "k", 1, 1).end(5000), Violation.Kind.GHOST);
  }
}
