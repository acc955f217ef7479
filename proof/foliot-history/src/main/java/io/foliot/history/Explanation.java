package io.foliot.history;

import java.util.Comparator;
import java.util.List;

/**
 * Finds, for each firing that no answer names, an operation that may have made the firing. An operation explains at
 * most one firing.
 */
final class Explanation {
  /**
   * A delivered firing that no answer names.
   *
   * @param changed whether a later operation may have changed the due time of the firing
   */
  record Unacked(Firing firing, boolean changed) {}

  private Explanation() {}

  /**
   * Reports the firings that no operation explains. Also reports firings that began before enough of the operations
   * were due.
   */
  static void check(List<Unacked> firings, List<Operation> makers, long clockErrorMillis, Findings findings) {
    // Each operation may have made any firing that began after its invocation. So all firings are explained if, for
    // every n, at least n operations were invoked before the nth firing began.
    long[] invoked = makers.stream().mapToLong(Operation::invokedMillis).sorted().toArray();
    long[] due = makers.stream().mapToLong(maker -> Math.max(maker.invokedMillis(), maker.notBeforeMillis()))
        .sorted().toArray();
    int explained = 0;
    int unchanged = 0;
    List<Unacked> inOrder = firings.stream()
        .sorted(Comparator.comparingLong(unacked -> unacked.firing.knownMillis())).toList();
    for (Unacked unacked : inOrder) {
      Firing firing = unacked.firing;
      Delivery first = firing.deliveries.getFirst();
      long atMillis = first.arrivedMillis() + clockErrorMillis;
      if (explained >= invoked.length || invoked[explained] > atMillis) {
        findings.report(Violation.Kind.GHOST, "no client had submitted " + firing, first.events());
        continue;
      }
      explained++;
      if (unacked.changed) {
        continue;
      }
      if (due[unchanged] > atMillis) {
        findings.report(Violation.Kind.EARLY, "no operation that may make " + firing + " was due", first.events(),
            makers.size() == 1 ? makers.getFirst().events() : List.of());
      }
      unchanged++;
    }
  }
}
