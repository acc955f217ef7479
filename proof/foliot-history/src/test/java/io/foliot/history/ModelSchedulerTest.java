package io.foliot.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The checker accepts the histories of a correct scheduler, and finds each of many bugs. To run more seeds:
 *
 * <pre>
 * mvn -pl :foliot-history -am test -Dtest=ModelSchedulerTest -Dsurefire.failIfNoSpecifiedTests=false -Dfoliot.history.seeds=20000
 * </pre>
 */
final class ModelSchedulerTest {
  private static final int LEGAL_SEEDS = Integer.getInteger("foliot.history.seeds", 600);

  /** Number of runs per bug. Even rare races occur within a few dozen runs. */
  private static final int BUG_SEEDS = 100;

  private static final int SKEW_MILLIS = 3;

  private static Allowances allowances(boolean faults) {
    return faults ? ModelScheduler.ALLOWANCES : ModelScheduler.ALLOWANCES.withoutFaults();
  }

  private static Verdict judge(long seed, ModelScheduler.Bug bug, boolean faults) {
    return new HistoryChecker(allowances(faults)).check(new ModelScheduler(seed, bug, faults).run());
  }

  @Test
  void aCorrectSchedulerIsAccepted() {
    long[] seen = new long[9];
    for (long seed = 0; seed < LEGAL_SEEDS; seed++) {
      for (boolean faults : new boolean[]{false, true}) {
        Verdict verdict = judge(seed, ModelScheduler.Bug.NONE, faults);
        assertThat(verdict.ok()).as("seed=%s, faults=%s: %s", seed, faults, verdict).isTrue();
        Verdict.Counts c = verdict.counts();
        long[] counts = {c.unknown(), c.delivered(), c.failed(), c.cancelled(), c.superseded(), c.unproven(),
            c.duplicates(), verdict.late(Lateness.Phase.DURING_FAULT).firings(),
            verdict.late(Lateness.Phase.AFTER_HEAL).firings()};
        Arrays.setAll(seen, i -> seen[i] + counts[i]);
        assertThat(c.open()).as("seed=%s: %s", seed, verdict).isZero();
      }
    }
    assertThat(seen).as("number of occurrences of each case").doesNotContain(0);
  }

  @Test
  void clocksMayDifferWithinTheAllowance() {
    Allowances exact = ModelScheduler.ALLOWANCES;
    Allowances skewed = new Allowances(SKEW_MILLIS, exact.transitMillis(), exact.deliveryTimeoutMillis(),
        exact.settleMillis(), exact.graceMillis(), false);
    for (long seed = 0; seed < LEGAL_SEEDS; seed++) {
      List<Event> events = new ModelScheduler(seed, ModelScheduler.Bug.NONE, true).run().events();
      for (int skew : new int[]{-SKEW_MILLIS, SKEW_MILLIS}) {
        for (boolean client : new boolean[]{false, true}) {
          Verdict verdict = new HistoryChecker(skewed)
              .check(events.stream().map(event -> shifted(event, skew, client)).toList());
          assertThat(verdict.ok()).as("seed=%s, skew=%s, client=%s: %s", seed, skew, client, verdict).isTrue();
        }
      }
    }
  }

  /** Returns the event as recorded by a client, or a receiver, whose clock is ahead by {@code millis}. */
  private static Event shifted(Event event, long millis, boolean client) {
    return switch (event) {
      case Event.Invoked e when client ->
        new Event.Invoked(e.op(), e.atMillis() + millis, shifted(e.request(), millis));
      case Event.Answered e when client -> new Event.Answered(e.op(), e.atMillis() + millis, e.reply());
      case Event.Began e when !client -> new Event.Began(e.delivery(), e.atMillis() + millis, e.attempt());
      case Event.Replied e when !client -> new Event.Replied(e.delivery(), e.atMillis() + millis, e.reception());
      default -> event;
    };
  }

  private static Request shifted(Request request, long millis) {
    return switch (request) {
      case Request.Submit s -> new Request.Submit(s.queue(), s.key(), s.notBeforeMillis() + millis, s.onConflict(),
          s.idempotencyKey());
      case Request.Reset r -> new Request.Reset(r.queue(), r.key(), r.notBeforeMillis() + millis);
      case Request.Touch t -> new Request.Touch(t.queue(), t.key(), t.notBeforeMillis() + millis);
      default -> request;
    };
  }

  @TestFactory
  Stream<DynamicTest> everyBugIsFound() {
    return Stream.of(ModelScheduler.Bug.values()).filter(bug -> bug != ModelScheduler.Bug.NONE)
        .map(bug -> dynamicTest(bug.name(), () -> ensureFound(bug)));
  }

  private static void ensureFound(ModelScheduler.Bug bug) {
    Set<Violation.Kind> found = EnumSet.noneOf(Violation.Kind.class);
    for (long seed = 0; seed < BUG_SEEDS; seed++) {
      found.addAll(judge(seed, bug, bug.needsFaults).totals().keySet());
    }
    assertThat(found).as("%s, seeds=0..%s", bug, BUG_SEEDS - 1).contains(bug.kind);
  }

  @Test
  void theSameSeedGivesTheSameHistory() {
    assertThat(new ModelScheduler(7, ModelScheduler.Bug.NONE, true).run().events())
        .isEqualTo(new ModelScheduler(7, ModelScheduler.Bug.NONE, true).run().events());
  }
}
