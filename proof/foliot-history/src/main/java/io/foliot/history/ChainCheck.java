package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Checks all rules on one {@link Chain}. */
final class ChainCheck {
  private final Chain chain;
  private final Run run;
  private final Allowances allowances;
  private final Findings findings;

  ChainCheck(Chain chain, Run run, Allowances allowances, Findings findings) {
    this.chain = chain;
    this.run = run;
    this.allowances = allowances;
    this.findings = findings;
  }

  /**
   * Reports the violations in this chain.
   *
   * @param firingIds the firings of the chains checked so far, by firing id; this method adds the firings of this chain
   * @param keyless receives the firing of this chain that only a submit without a key can explain, if there is one
   */
  void check(Map<String, Firing> firingIds, List<Explanation.Unacked> keyless) {
    ExclusionCheck exclusions = new ExclusionCheck(chain, run, allowances, findings);
    RepeatCheck repeats = new RepeatCheck(run, allowances, findings);
    LossCheck losses = new LossCheck(chain, run, allowances, findings);
    for (int i = 0; i < chain.firings.size(); i++) {
      Firing firing = chain.firings.get(i);
      checkBirths(firing);
      checkIdentity(firing, firingIds);
      checkDue(firing);
      exclusions.check(i);
      repeats.check(firing);
      losses.check(i);
      addLateness(firing);
    }
    checkGenerations();
    checkFence();
    explain(keyless);
  }

  private void checkBirths(Firing firing) {
    for (int i = 1; i < firing.births.size(); i++) {
      if (!isRepeat(firing.births.getFirst(), firing.births.get(i))) {
        findings.report(Violation.Kind.FIRING, firing + " was made twice", firing.births.getFirst().events(),
            firing.births.get(i).events());
      }
    }
  }

  private static boolean isRepeat(Operation one, Operation other) {
    return one.request() instanceof Request.Submit first && other.request() instanceof Request.Submit second
        && first.idempotencyKey() != null && first.idempotencyKey().equals(second.idempotencyKey());
  }

  private void checkIdentity(Firing firing, Map<String, Firing> firingIds) {
    if (firing.deliveries.isEmpty()) {
      return;
    }
    Delivery first = firing.deliveries.getFirst();
    for (Delivery delivery : firing.deliveries) {
      Attempt attempt = delivery.attempt();
      if (!attempt.firingId().equals(first.attempt().firingId())) {
        findings.report(Violation.Kind.FIRING, firing + " has two firing ids", first.events(), delivery.events());
      }
      if (!Objects.equals(attempt.key(), chain.key)
          || !(attempt.queue().equals(chain.queue) || chain.isUnknown())) {
        findings.report(Violation.Kind.FIRING, firing + " was delivered with another queue or key than " + chain,
            firing.origin(), delivery.events());
      }
    }
    Firing other = firingIds.putIfAbsent(first.attempt().firingId(), firing);
    if (other != null && !other.equals(firing)) {
      findings.report(Violation.Kind.FIRING, other + " and " + firing + " have one firing id",
          other.deliveries.getFirst().events(), first.events());
    }
  }

  private void checkDue(Firing firing) {
    long clockErrorMillis = allowances.clockErrorMillis();
    if (firing.born != null && firing.dueMillis() < firing.requestedMillis() - clockErrorMillis) {
      findings.report(Violation.Kind.EARLY, firing + " was given a due time before the requested one",
          firing.origin());
    }
    for (Delivery delivery : firing.deliveries) {
      long arrived = delivery.arrivedMillis() + clockErrorMillis;
      if (firing.born != null && arrived < firing.invokedMillis()) {
        findings.report(Violation.Kind.GHOST, firing + " began before it was submitted", firing.origin(),
            delivery.events());
      } else if (firing.dueMillis() > arrived || delivery.attempt().dueAtMillis() > arrived) {
        findings.report(Violation.Kind.EARLY, firing + " began before it was due", firing.origin(), delivery.events());
      }
    }
  }

  private void addLateness(Firing firing) {
    if (firing.deliveries.isEmpty()) {
      return;
    }
    Delivery first = firing.deliveries.getFirst();
    long arrived = first.arrivedMillis();
    long due = firing.dueMillis() == Long.MIN_VALUE ? first.attempt().dueAtMillis() : firing.dueMillis();
    due = Math.max(due, firing.invokedMillis());
    Lateness.Phase phase = Lateness.Phase.FAULT_FREE;
    if (run.faults.touches(due, Math.max(due, arrived))) {
      phase = Lateness.Phase.DURING_FAULT;
    } else if (run.faults.lastHealBefore(due) > due - allowances.graceMillis()) {
      phase = Lateness.Phase.AFTER_HEAL;
    }
    findings.addLateness(phase, Math.max(0, arrived - due));
  }

  /**
   * Reports firings that have the same generation. Also reports an answer with a lower generation than an earlier
   * answer. An answer is earlier if it arrived before the operation of the other answer was sent. An earlier answer
   * RESET_PENDING is ignored if the other answer may name the running generation.
   */
  private void checkGenerations() {
    List<Firing> made = chain.firings.stream().filter(firing -> firing.born != null).toList();
    for (int i = 1; i < made.size(); i++) {
      if (made.get(i).generation == made.get(i - 1).generation) {
        findings.report(Violation.Kind.FIRING, made.get(i - 1) + " and " + made.get(i) + " have one generation",
            made.get(i - 1).origin(), made.get(i).origin());
      }
    }
    List<Statement> statements = new ArrayList<>();
    made.forEach(
        firing -> statements.add(new Statement(firing.invokedMillis(), firing.generation, false, firing.origin())));
    for (Operation operation : chain.statements) {
      statements.add(new Statement(operation.invokedMillis(), generation(operation), mayMeanRunning(operation),
          operation.events()));
    }
    statements.sort(Comparator.comparingLong(Statement::invokedMillis));
    List<Firing> byAnswer = new ArrayList<>(made);
    byAnswer.sort(Comparator.comparingLong(Firing::answeredMillis));
    int answered = 0;
    Firing latest = null;
    Firing latestLive = null;
    for (Statement statement : statements) {
      long invoked = statement.invokedMillis - allowances.clockErrorMillis();
      for (; answered < byAnswer.size() && byAnswer.get(answered).answeredMillis() < invoked; answered++) {
        Firing firing = byAnswer.get(answered);
        latest = later(latest, firing);
        latestLive = firing.born == Reply.Result.RESET_PENDING ? latestLive : later(latestLive, firing);
      }
      Firing before = statement.mayMeanRunning ? latestLive : latest;
      if (before != null && statement.generation < before.generation) {
        findings.report(Violation.Kind.FIRING, "generation " + statement.generation + " was answered after " + before,
            before.origin(), statement.evidence);
      }
    }
  }

  private static Firing later(@Nullable Firing one, Firing other) {
    return one == null || other.generation > one.generation ? other : one;
  }

  /**
   * An answer that names a generation.
   *
   * @param mayMeanRunning whether the answer may name the running generation although a successor waits
   */
  private record Statement(long invokedMillis, long generation, boolean mayMeanRunning, List<Event> evidence) {}

  private static boolean mayMeanRunning(Operation operation) {
    return operation.reply() instanceof Reply.Found
        || (operation.reply() instanceof Reply.Placed placed && placed.result() == Reply.Result.KEPT);
  }

  private static long generation(Operation operation) {
    return switch (operation.reply()) {
      case Reply.Placed placed -> placed.generation();
      case Reply.Found found -> found.generation();
      case Reply.Cancelled cancelled -> cancelled.generation();
      default -> throw new IllegalArgumentException("an answer without generation: " + operation.reply());
    };
  }

  /**
   * Reports an attempt that began after an attempt with a higher (generation, attempt) had arrived, unless a fault
   * explains this. Attempts that the store may have forgotten are ignored.
   */
  private void checkFence() {
    List<Delivery> deliveries = new ArrayList<>();
    Map<Delivery, Firing> firingOf = new HashMap<>();
    for (Firing firing : chain.firings) {
      for (Delivery delivery : firing.deliveries) {
        if (run.forgotten.mayBe(delivery.arrivedMillis())) {
          continue;
        }
        deliveries.add(delivery);
        firingOf.put(delivery, firing);
      }
    }
    if (deliveries.size() < 2) {
      return;
    }
    deliveries.sort(Comparator.comparingLong(Delivery::arrivedMillis));
    List<Delivery> furthest = new ArrayList<>();
    for (Delivery delivery : deliveries) {
      Delivery last = furthest.isEmpty() ? delivery : furthest.getLast();
      furthest.add(delivery.isBeyond(last) ? delivery : last);
      int before = arrivedBefore(deliveries, run.begunMillis(delivery));
      Delivery beyond = before == 0 ? delivery : furthest.get(before - 1);
      if (beyond.isBeyond(delivery)) {
        Firing firing = Objects.requireNonNull(firingOf.get(delivery));
        if (!run.isDisturbed(firing, delivery, delivery)) {
          findings.report(Violation.Kind.FENCE, firing + " began after an attempt with a higher number or generation",
              beyond.events(), delivery.events());
        }
      }
    }
  }

  private static int arrivedBefore(List<Delivery> deliveries, long millis) {
    int low = 0;
    for (int high = deliveries.size(); low < high;) {
      int middle = (low + high) >>> 1;
      if (deliveries.get(middle).arrivedMillis() < millis) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Returns whether an answer {@link Event.Reception#AGAIN} may have made the firing. That answer belongs to the
   * previous firing, or to an older firing that a loss of writes may have brought back.
   */
  private boolean mayStemFromAgain(int index) {
    if (index > 0 && chain.firings.get(index - 1).was(Event.Reception.AGAIN)) {
      return true;
    }
    return chain.firings.subList(0, index).stream().flatMap(earlier -> earlier.deliveries.stream())
        .anyMatch(delivery -> delivery.was(Event.Reception.AGAIN)
            && run.forgotten.mayPrecede(delivery.arrivedMillis()));
  }

  private void explain(List<Explanation.Unacked> keyless) {
    long clockErrorMillis = allowances.clockErrorMillis();
    List<Explanation.Unacked> unexplained = new ArrayList<>();
    boolean unacked = chain.key == null && !chain.firings.isEmpty() && !chain.firings.getFirst().isAcked();
    for (int i = 0; i < chain.firings.size(); i++) {
      Firing firing = chain.firings.get(i);
      if (firing.isAcked() || firing.deliveries.isEmpty()) {
        continue;
      }
      if (unacked) {
        keyless.add(new Explanation.Unacked(firing, chain.mayBeChanged(firing.knownMillis() + clockErrorMillis)));
        unacked = false;
      } else if (!mayStemFromAgain(i)
          && !(i > 0 && chain.mayBeRedriven(firing.knownMillis() + clockErrorMillis))) {
        unexplained.add(new Explanation.Unacked(firing, false));
      }
    }
    if (!unexplained.isEmpty()) {
      Explanation.check(unexplained, chain.makers, clockErrorMillis, findings);
    }
  }
}
