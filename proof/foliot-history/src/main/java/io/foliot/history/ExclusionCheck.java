package io.foliot.history;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reports attempts that the answer of a cancel or reset excludes. */
final class ExclusionCheck {
  /*
   * An answer to a cancel or reset excludes later attempts of a firing for one of two reasons.
   *
   * Not due: the firing was not yet due when the answer was given, so no node can have claimed it by then. The
   * operation made a later generation, or cancelled the live one. Either prevents every later claim of the firing. If
   * the answer is RESET_PENDING or CANCEL_PENDING, the claim that is still open belongs to an older firing.
   *
   * Unbroken: from the firing to the answer, each generation replaced the previous one, so all belong to the same live
   * task. An answer without _PENDING then proves that no claim of this task is open. An answer CREATED in between, or
   * an operation that may have created the task, breaks this series. The firing may then have become final while one of
   * its claims was open, and the attempt of that claim may still begin.
   */
  private final Chain chain;
  private final Run run;
  private final Findings findings;
  private final long clockErrorMillis;

  // Element i of each array describes the firings after firing i of the chain.

  /** The firing that was answered first; null if none has an answer. */
  private final @Nullable Firing[] firstAcked;

  /** The first answered firing that a RESET made before any break of the series; null if there is none. */
  private final @Nullable Firing[] firstReset;

  /** The first answered firing that a RESET_PENDING made before any break; null if there is none. */
  private final @Nullable Firing[] firstPending;

  /**
   * The earliest time, in ms, at which an operation that breaks the series was invoked; {@link Long#MAX_VALUE} if there
   * is none.
   */
  private final long[] brokenMillis;

  ExclusionCheck(Chain chain, Run run, Allowances allowances, Findings findings) {
    this.chain = chain;
    this.run = run;
    this.findings = findings;
    clockErrorMillis = allowances.clockErrorMillis();
    int size = chain.firings.size();
    firstAcked = new Firing[size];
    firstReset = new Firing[size];
    firstPending = new Firing[size];
    brokenMillis = new long[size];
    Arrays.fill(brokenMillis, Long.MAX_VALUE);
    for (int i = size - 2; i >= 0; i--) {
      Firing next = chain.firings.get(i + 1);
      firstAcked[i] = next.isAcked() ? first(next, firstAcked[i + 1]) : firstAcked[i + 1];
      if (next.born == Reply.Result.RESET) {
        firstReset[i] = first(next, firstReset[i + 1]);
        firstPending[i] = firstPending[i + 1];
        brokenMillis[i] = brokenMillis[i + 1];
      } else if (next.born == Reply.Result.RESET_PENDING) {
        firstReset[i] = firstReset[i + 1];
        firstPending[i] = first(next, firstPending[i + 1]);
        brokenMillis[i] = brokenMillis[i + 1];
      } else {
        brokenMillis[i] = Math.min(next.invokedMillis(), brokenMillis[i + 1]);
      }
    }
  }

  private static Firing first(Firing one, @Nullable Firing other) {
    return other != null && other.answeredMillis() < one.answeredMillis() ? other : one;
  }

  /**
   * Reports the attempts of one firing that an answer excludes.
   *
   * @param index the index of the firing in the chain
   */
  void check(int index) {
    Firing firing = chain.firings.get(index);
    if (firing.deliveries.isEmpty()) {
      return;
    }
    checkResets(firing, firstAcked[index], firstReset[index]);
    checkPendingReset(firing, firstPending[index]);
    // If the firing already existed when a cancel was invoked, the cancel applied to this firing or to a later one.
    long from = firing.knownMillis() == Long.MAX_VALUE ? Long.MAX_VALUE : firing.knownMillis() + clockErrorMillis + 1;
    Operation cancelled = chain.firstCancel(firing, false, from);
    Operation pending = chain.firstCancel(firing, true, from);
    checkCancel(firing, firing.cancelled, true);
    if (cancelled != firing.cancelled) {
      checkCancel(firing, cancelled, isUnbroken(firing, index, cancelled));
    }
    checkCancel(firing, pending, false);
    if (pending != null && isUnbroken(firing, index, pending)) {
      checkOneClaim(firing, pending.answeredMillis(), Violation.Kind.CANCEL, pending.events());
    }
  }

  private void checkResets(Firing firing, @Nullable Firing acked, @Nullable Firing reset) {
    if (acked != null && !wasDue(firing, acked.answeredMillis())) {
      reportStale(firing, acked);
    } else if (reset != null && !chain.mayHaveMore(firing.invokedMillis(), reset.answeredMillis())) {
      reportStale(firing, reset);
    }
  }

  private void reportStale(Firing firing, Firing later) {
    for (Delivery delivery : firing.deliveries) {
      if (run.begunMillis(delivery) > later.answeredMillis()) {
        findings.report(Violation.Kind.STALE, firing + " began after it had been replaced by " + later,
            firing.origin(), later.origin(), delivery.events());
      }
    }
  }

  private void checkPendingReset(Firing firing, @Nullable Firing pending) {
    if (pending != null && !chain.mayHaveMore(firing.invokedMillis(), pending.answeredMillis())) {
      checkOneClaim(firing, pending.answeredMillis(), Violation.Kind.STALE, pending.origin());
    }
  }

  private void checkCancel(Firing firing, @Nullable Operation cancel, boolean unbroken) {
    if (cancel == null || (!unbroken && wasDue(firing, cancel.answeredMillis()))) {
      return;
    }
    for (Delivery delivery : firing.deliveries) {
      if (run.begunMillis(delivery) > cancel.answeredMillis()) {
        findings.report(Violation.Kind.CANCEL, firing + " began after it had been cancelled", firing.origin(),
            cancel.events(), delivery.events());
      }
    }
  }

  /**
   * Reports an attempt whose claim was made after an answer _PENDING. Only a claim made before that answer may deliver.
   * Without faults a firing has one claim at a time. So if one claim was still valid at the answer, each later claim
   * was made after the answer.
   */
  private void checkOneClaim(Firing firing, long answeredMillis, Violation.Kind kind, List<Event> evidence) {
    Delivery first = null;
    for (Delivery delivery : firing.deliveries) {
      if (first == null) {
        first = run.outlived(delivery, answeredMillis) ? delivery : null;
      } else if (delivery.attempt().attempt() > first.attempt().attempt() && run.begunMillis(delivery) > answeredMillis
          && !run.isDisturbed(firing, first, delivery)) {
        findings.report(kind, firing + " was claimed anew after an answer that said _PENDING", firing.origin(),
            evidence,
            first.events(), delivery.events());
      }
    }
  }

  private boolean isUnbroken(Firing firing, int index, @Nullable Operation cancel) {
    return cancel != null && brokenMillis[index] > cancel.answeredMillis() + clockErrorMillis
        && !chain.mayHaveMore(firing.invokedMillis(), cancel.answeredMillis());
  }

  private boolean wasDue(Firing firing, long atMillis) {
    return firing.dueMillis() <= atMillis + clockErrorMillis;
  }
}
