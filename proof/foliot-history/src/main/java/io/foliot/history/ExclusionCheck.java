package io.foliot.history;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds attempts that an answered cancel or reset excludes. */
final class ExclusionCheck {
  /*
   * An answer excludes a firing in one of two ways.
   *
   * Not due: when the answer was given, the firing was not due, so no worker can have claimed it. It was live then, or
   * had been replaced or cancelled before: a call that made a later generation, or cancelled the live one, bars it for
   * ever, and a _PENDING answer speaks of an earlier claim than any of its own.
   *
   * Unbroken: from the firing to the answer one generation replaced the other, so all are the same live task, and an
   * answer without _PENDING says that nothing of it is outstanding. A CREATED in between, or anything that may have
   * been one, breaks this: the firing may have been final by then, with an attempt left outstanding that may still
   * begin.
   */
  private final Chain chain;
  private final Run run;
  private final Findings findings;
  private final long clockErrorMillis;

  // By firing, the operations after it in the chain.
  private final @Nullable Firing[] firstAcked;
  private final @Nullable Firing[] firstReset;
  private final @Nullable Firing[] firstPending;
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

  /** @param index the firing's place in the chain */
  void check(int index) {
    Firing firing = chain.firings.get(index);
    if (firing.deliveries.isEmpty()) {
      return;
    }
    checkResets(firing, firstAcked[index], firstReset[index]);
    checkPendingReset(firing, firstPending[index]);
    // A cancel that was invoked later has met this firing, or its replacement.
    long from = firing.thereMillis() == Long.MAX_VALUE ? Long.MAX_VALUE : firing.thereMillis() + clockErrorMillis + 1;
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
   * After a _PENDING only a claim made before may deliver, and without faults there is one at a time: a claim after one
   * that outlived the answer is also after the answer.
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
