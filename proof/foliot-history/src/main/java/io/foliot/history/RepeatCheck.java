package io.foliot.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks a firing for repeated deliveries and attempt numbers, and for changes of a final state. */
final class RepeatCheck {
  private final Run run;
  private final Allowances allowances;
  private final Findings findings;

  RepeatCheck(Run run, Allowances allowances, Findings findings) {
    this.run = run;
    this.allowances = allowances;
    this.findings = findings;
  }

  void check(Firing firing) {
    checkStates(firing);
    if (firing.deliveries.size() > 1) {
      checkNumbers(firing);
    }
    List<Delivery> successes = new ArrayList<>();
    for (Delivery delivery : firing.deliveries) {
      boolean zombie = checkZombie(firing, successes, delivery);
      if (run.succeededInTime(delivery)) {
        if (!successes.isEmpty()) {
          duplicate(firing, successes.getLast(), delivery, zombie);
        }
        successes.add(delivery);
      }
    }
  }

  /**
   * Reports an attempt number that was delivered twice. Each number belongs to one claim, and each claim to one
   * attempt. Only a permitted loss of writes excuses a repetition.
   */
  private void checkNumbers(Firing firing) {
    Map<Integer, Delivery> byNumber = new HashMap<>();
    for (Delivery delivery : firing.deliveries) {
      Delivery other = byNumber.putIfAbsent(delivery.attempt().attempt(), delivery);
      if (other != null && !run.forgotten.mayBe(other.arrivedMillis())) {
        findings.report(Violation.Kind.FENCE, firing + " began twice with the same attempt number", other.events(),
            delivery.events());
      }
    }
  }

  /**
   * Reports a delivery that began after its firing had ended, unless a fault may explain it. Returns whether the
   * delivery was reported.
   */
  private boolean checkZombie(Firing firing, List<Delivery> successes, Delivery delivery) {
    long begun = run.begunMillis(delivery);
    for (int i = successes.size() - 1; i >= 0; i--) {
      Delivery success = successes.get(i);
      if (success.lastMillis() + allowances.settleMillis() < begun) {
        // A higher number was claimed after the success, so a fault at any time since the success may explain the
        // delivery. A lower number was claimed before, so only a fault at the time of the delivery may explain it.
        boolean later = delivery.attempt().attempt() > success.attempt().attempt();
        if (later && isBetween(firing, success, delivery)) {
          // The task was claimed between them, so its success was not recorded. That claim is checked by itself.
          break;
        }
        if (!run.isDisturbed(firing, later ? success : delivery, delivery)) {
          findings.report(Violation.Kind.ZOMBIE, firing + " began long after its success", firing.origin(),
              success.events(), delivery.events());
          return true;
        }
        break;
      }
    }
    for (Operation read : firing.reads) {
      if (Firing.state(read).isFinal() && read.answeredMillis() < begun
          && !run.isDisturbed(firing, delivery, delivery)) {
        findings.report(Violation.Kind.ZOMBIE, firing + " began after it had been read as final", firing.origin(),
            read.events(), delivery.events());
        return true;
      }
    }
    return false;
  }

  /** Returns whether an attempt was delivered whose number is between those of two other attempts. */
  private static boolean isBetween(Firing firing, Delivery lower, Delivery higher) {
    return firing.deliveries.stream().mapToInt(delivery -> delivery.attempt().attempt())
        .anyMatch(number -> number > lower.attempt().attempt() && number < higher.attempt().attempt());
  }

  private void duplicate(Firing firing, Delivery success, Delivery again, boolean zombie) {
    boolean outside = !run.isDisturbed(firing, success, again);
    findings.countDuplicate(outside);
    if (allowances.faultFree() && !zombie) {
      findings.report(Violation.Kind.DUP, firing + " was delivered twice", firing.origin(), success.events(),
          again.events());
    }
  }

  private void checkStates(Firing firing) {
    Operation first = null;
    for (Operation read : firing.reads) {
      if (Firing.state(read).isFinal() && (first == null || read.answeredMillis() < first.answeredMillis())) {
        first = read;
      }
    }
    if (first == null) {
      return;
    }
    for (Operation read : firing.reads) {
      if (first.answeredMillis() + allowances.clockErrorMillis() < read.invokedMillis()
          && Firing.state(read) != Firing.state(first)) {
        findings.report(Violation.Kind.ZOMBIE, firing + " was final, and later had another state", first.events(),
            read.events());
      }
    }
  }
}
