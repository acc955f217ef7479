package io.foliot.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Collects the violations, counts and lateness that a check finds. */
final class Findings {
  /** The end of an acked firing, as described by {@link Verdict.Counts}. */
  enum End {
    DELIVERED, FAILED, CANCELLED, SUPERSEDED, UNPROVEN, OPEN, LOST
  }

  private final List<Violation> violations = new ArrayList<>();
  private final Map<Violation.Kind, Long> totals = new EnumMap<>(Violation.Kind.class);
  private final Map<End, Long> ends = new EnumMap<>(End.class);
  private final Map<Lateness.Phase, Histogram> lateness = new EnumMap<>(Lateness.Phase.class);
  private long duplicates;
  private long duplicatesOutsideFaults;

  @SafeVarargs
  final void report(Violation.Kind kind, String message, Collection<Event>... evidence) {
    if (totals.merge(kind, 1L, Long::sum) <= Verdict.MAX_PER_KIND) {
      List<Event> events = new ArrayList<>();
      for (Collection<Event> some : evidence) {
        some.stream().filter(event -> !events.contains(event)).forEach(events::add);
      }
      events.sort(Comparator.comparingLong(Event::atMillis));
      violations.add(new Violation(kind, message, events));
    }
  }

  void count(End end) {
    ends.merge(end, 1L, Long::sum);
  }

  void countDuplicate(boolean outsideFaults) {
    duplicates++;
    if (outsideFaults) {
      duplicatesOutsideFaults++;
    }
  }

  void addLateness(Lateness.Phase phase, long millis) {
    lateness.computeIfAbsent(phase, p -> new Histogram(3)).recordValue(Math.max(0, millis));
  }

  Verdict verdict(Run run) {
    Map<Lateness.Phase, Lateness> late = new EnumMap<>(Lateness.Phase.class);
    for (Lateness.Phase phase : Lateness.Phase.values()) {
      late.put(phase, Lateness.of(lateness.get(phase)));
    }
    long unknown = run.operations.stream().filter(Operation::isUnknown).count() - run.forgotten.excused();
    long acked = ends.values().stream().mapToLong(Long::longValue).sum();
    Verdict.Counts counts = new Verdict.Counts(run.operations.size(), unknown, run.deliveries.size(), acked,
        ended(End.DELIVERED), ended(End.FAILED), ended(End.CANCELLED), ended(End.SUPERSEDED), ended(End.UNPROVEN),
        ended(End.OPEN), ended(End.LOST), duplicates, duplicatesOutsideFaults, run.forgotten.excused());
    return new Verdict(violations, totals, counts, late);
  }

  private long ended(End end) {
    return ends.getOrDefault(end, 0L);
  }
}
