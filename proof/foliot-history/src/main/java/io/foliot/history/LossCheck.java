package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Determines how each acked firing ended, and reports those that were lost. */
final class LossCheck {
  private final Chain chain;
  private final Run run;
  private final Allowances allowances;
  private final Findings findings;
  private final Map<Firing, Operation> denied = new HashMap<>();
  private final long lastActivityMillis;

  LossCheck(Chain chain, Run run, Allowances allowances, Findings findings) {
    this.chain = chain;
    this.run = run;
    this.allowances = allowances;
    this.findings = findings;
    lastActivityMillis = chain.firings.stream().flatMap(firing -> firing.deliveries.stream())
        .mapToLong(Delivery::lastMillis).max().orElse(Long.MIN_VALUE);
    if (!chain.denials.isEmpty()) {
      findDenied();
    }
  }

  /**
   * Counts the end of one firing, and reports the firing if it is lost. Skips a firing that is not acked.
   *
   * @param index the index of the firing in the chain
   */
  void check(int index) {
    Firing firing = chain.firings.get(index);
    if (firing.isAcked()) {
      Firing next = index + 1 < chain.firings.size() ? chain.firings.get(index + 1) : null;
      findings.count(end(firing, next));
    }
  }

  private Findings.End end(Firing firing, @Nullable Firing next) {
    if (firing.succeeded()) {
      return Findings.End.DELIVERED;
    }
    if (firing.was(Event.Reception.REFUSED) || firing.read(Reply.State.FAILED) != null) {
      return Findings.End.FAILED;
    }
    Operation finished = firing.read(Reply.State.FINISHED);
    if (finished != null) {
      return firing.was(Event.Reception.GONE)
          ? Findings.End.DELIVERED
          : lost(firing, "was recorded as finished, but never delivered", finished.events());
    }
    Firing created = next != null && next.born == Reply.Result.CREATED ? next : null;
    if (chain.mayBeCancelled(firing, created == null ? Long.MAX_VALUE : created.answeredMillis())) {
      return Findings.End.CANCELLED;
    }
    if (chain.isUnknown()) {
      return Findings.End.UNPROVEN; // its key is unknown, and a cancel by that key may have ended it
    }
    Operation denial = denied.get(firing);
    if (denial != null) {
      return lost(firing, "was not found before it was due", denial.events());
    }
    if (next == null) {
      return last(firing);
    }
    return created == null ? Findings.End.SUPERSEDED : freed(firing, created);
  }

  /** Returns the end of a firing if its key was free again later: the firing had become final, or was lost. */
  private Findings.End freed(Firing firing, Firing next) {
    long at = next.answeredMillis();
    if (chain.mayHaveMore(firing.invokedMillis(), at)) {
      return Findings.End.UNPROVEN;
    }
    if (firing.dueMillis() > at + allowances.clockErrorMillis()) {
      return lost(firing, "was gone before it was due: its key was free again", next.origin());
    }
    if (firing.deliveries.isEmpty() && !run.faults.touches(firing.dueMillis(), at)) {
      return lost(firing, "was gone without an attempt: its key was free again", next.origin());
    }
    return Findings.End.UNPROVEN;
  }

  /** Returns the end of the last firing of the chain: open until its grace time has passed, then lost. */
  private Findings.End last(Firing firing) {
    long base = Math.max(Math.max(firing.lastDueMillis(), firing.answeredMillis()),
        Math.max(run.faults.lastHealMillis(), lastActivityMillis));
    String what = "was never delivered";
    List<Event> evidence = new ArrayList<>();
    for (Delivery delivery : firing.deliveries) {
      evidence.addAll(delivery.events());
    }
    for (Operation maker : chain.makers) {
      if (maker.latestMillis() >= firing.invokedMillis()) {
        // If the operation took effect, the firing that it made should have been delivered.
        long delay = Math.max(0, maker.notBeforeMillis() - maker.invokedMillis());
        base = Math.max(base, later(maker.latestMillis(), delay));
        what = "was never delivered, and neither was a firing of an unknown operation that may have replaced it";
        evidence.addAll(maker.events());
      }
    }
    return later(base, allowances.graceMillis()) > run.endMillis ? Findings.End.OPEN : lost(firing, what, evidence);
  }

  private static long later(long millis, long durationMillis) {
    return millis > Long.MAX_VALUE - durationMillis ? Long.MAX_VALUE : millis + durationMillis;
  }

  private Findings.End lost(Firing firing, String what, List<Event> evidence) {
    findings.report(Violation.Kind.LOST, firing + " " + what, firing.origin(), evidence);
    return Findings.End.LOST;
  }

  /** Finds the firings that must have been live when an operation did not find them. */
  private void findDenied() {
    List<Firing> byAnswer = new ArrayList<>(chain.firings.stream().filter(Firing::isAcked).toList());
    byAnswer.sort(Comparator.comparingLong(Firing::answeredMillis));
    List<Firing> byInvocation = new ArrayList<>(chain.firings);
    byInvocation.sort(Comparator.comparingLong(Firing::invokedMillis));
    long[] latest = latestGenerations(byInvocation);
    List<Operation> byTime = new ArrayList<>(chain.denials);
    byTime.sort(Comparator.comparingLong(Operation::invokedMillis));
    int answered = 0;
    Firing live = null;
    for (Operation denial : byTime) {
      long invoked = denial.invokedMillis() - allowances.clockErrorMillis();
      for (; answered < byAnswer.size() && byAnswer.get(answered).answeredMillis() < invoked; answered++) {
        live = later(live, byAnswer.get(answered));
      }
      if (live != null && !denied.containsKey(live) && isLatest(live, byInvocation, latest, denial)
          && mustFind(live, denial)) {
        denied.put(live, denial);
      }
    }
  }

  private static Firing later(@Nullable Firing one, Firing other) {
    return one != null && one.generation > other.generation ? one : other;
  }

  private static long[] latestGenerations(List<Firing> firings) {
    long[] latest = new long[firings.size()];
    long generation = Long.MIN_VALUE;
    for (int i = 0; i < latest.length; i++) {
      generation = Math.max(generation, firings.get(i).generation);
      latest[i] = generation;
    }
    return latest;
  }

  /** Returns whether {@code live} was certainly the latest generation when the denial was answered. */
  private boolean isLatest(Firing live, List<Firing> byInvocation, long[] latest, Operation denial) {
    long at = denial.answeredMillis() + allowances.clockErrorMillis();
    int invoked = 0;
    for (int high = latest.length; invoked < high;) {
      int middle = (invoked + high) >>> 1;
      if (byInvocation.get(middle).invokedMillis() <= at) {
        invoked = middle + 1;
      } else {
        high = middle;
      }
    }
    return (invoked == 0 || latest[invoked - 1] <= live.generation)
        && !chain.mayHaveMore(live.invokedMillis(), at);
  }

  private boolean mustFind(Firing live, Operation denial) {
    long at = denial.answeredMillis() + allowances.clockErrorMillis();
    Target target = switch (denial.request()) {
      case Request.Cancel cancel -> cancel.target();
      case Request.RunNow run -> run.target();
      case Request.Read read -> read.target();
      default -> null;
    };
    return (!(target instanceof Target.Task task) || task.taskId().equals(live.taskId))
        && live.dueMillis() > at + allowances.clockErrorMillis() && !chain.mayBeCancelled(live, at);
  }
}
