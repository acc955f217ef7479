package io.foliot.history;

import java.util.Comparator;
import java.util.List;

/** Matches firings that no answer names with the operations that may have made them, one each. */
final class Explanation {
  /**
   * A firing that was delivered, and not acked.
   *
   * @param changed whether its due time may differ from the one of its request
   */
  record Wanting(Firing firing, boolean changed) {}

  private Explanation() {}

  /** Reports the firings that are too many. */
  static void check(List<Wanting> firings, List<Operation> makers, long clockErrorMillis, Findings findings) {
    // Any maker in time serves any firing, so the nth firing needs n makers in time, and that is enough.
    long[] invoked = makers.stream().mapToLong(Operation::invokedMillis).sorted().toArray();
    long[] due = makers.stream().mapToLong(maker -> Math.max(maker.invokedMillis(), maker.notBeforeMillis()))
        .sorted().toArray();
    int explained = 0;
    int unchanged = 0;
    List<Wanting> inOrder = firings.stream()
        .sorted(Comparator.comparingLong(wanting -> wanting.firing.thereMillis())).toList();
    for (Wanting wanting : inOrder) {
      Firing firing = wanting.firing;
      Delivery first = firing.deliveries.getFirst();
      long atMillis = first.arrivedMillis() + clockErrorMillis;
      if (explained >= invoked.length || invoked[explained] > atMillis) {
        findings.report(Violation.Kind.GHOST, "no client had submitted " + firing, first.events());
        continue;
      }
      explained++;
      if (wanting.changed) {
        continue;
      }
      if (due[unchanged] > atMillis) {
        findings.report(Violation.Kind.EARLY, "nothing that may have made " + firing + " was due", first.events(),
            makers.size() == 1 ? makers.getFirst().events() : List.of());
      }
      unchanged++;
    }
  }
}
