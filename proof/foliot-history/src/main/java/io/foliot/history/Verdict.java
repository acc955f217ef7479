package io.foliot.history;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The verdict on a history.
 *
 * @param violations the first violations of each kind, {@link #MAX_PER_KIND} of a kind at most
 * @param totals the number of violations of each kind that occurred
 * @param lateness the lateness in each phase; the map has all phases
 */
public record Verdict(List<Violation> violations, Map<Violation.Kind, Long> totals, Counts counts,
    Map<Lateness.Phase, Lateness> lateness) {
  /** Largest number of kept violations of one kind. A broken system may violate a promise with every delivery. */
  public static final int MAX_PER_KIND = 1000;

  /** Largest number of printed violations of one kind, for a report that fits a terminal. */
  private static final int MAX_PRINTED_PER_KIND = 5;

  /**
   * The counts of a run, which show how much the run tested. Each acked firing is counted once, by its end. A firing is
   * acked if an answer names it.
   *
   * @param delivered acked firings that were delivered
   * @param failed acked firings that ended as dead letters
   * @param cancelled acked firings that a cancel has, or may have, ended
   * @param superseded acked firings that a later generation has, or may have, replaced
   * @param unproven acked firings without a visible end in the history, whose key was free later; also acked firings
   *     whose key is unknown
   * @param open acked firings whose grace time had not passed at the end of the run
   * @param lost acked firings that are {@link Violation.Kind#LOST}
   * @param duplicates successes after the first success of a firing, all answered in time
   * @param duplicatesOutsideFaults duplicates that no fault explains
   * @param excused answers that the checker ignored, because the store may have lost their writes
   */
  public record Counts(long operations, long unknown, long deliveries, long acked, long delivered, long failed,
      long cancelled, long superseded, long unproven, long open, long lost, long duplicates,
      long duplicatesOutsideFaults, long excused) {}

  public Verdict {
    violations = List.copyOf(violations);
    totals = Collections.unmodifiableMap(new EnumMap<>(totals));
    lateness = Collections.unmodifiableMap(new EnumMap<>(lateness));
  }

  public boolean ok() {
    return totals.isEmpty();
  }

  public long total(Violation.Kind kind) {
    return totals.getOrDefault(kind, 0L);
  }

  public Lateness late(Lateness.Phase phase) {
    return Objects.requireNonNull(lateness.get(phase));
  }

  @Override
  public String toString() {
    String line = System.lineSeparator();
    StringBuilder text = new StringBuilder(ok() ? "all promises kept" : "broken promises: " + totals).append(line);
    text.append(counts.operations).append(" operations (").append(counts.unknown).append(" unknown), ")
        .append(counts.deliveries).append(" deliveries; ").append(counts.acked).append(" acked firings: ")
        .append(counts.delivered).append(" delivered, ").append(counts.failed).append(" failed, ")
        .append(counts.cancelled).append(" cancelled, ").append(counts.superseded).append(" superseded, ")
        .append(counts.unproven).append(" unproven, ").append(counts.open).append(" open, ").append(counts.lost)
        .append(" lost; ").append(counts.duplicates).append(" duplicates, ").append(counts.duplicatesOutsideFaults)
        .append(" of them outside faults");
    text.append(counts.excused == 0 ? "" : "; " + counts.excused + " answers excused").append(line);
    lateness.forEach((phase, late) -> text.append("late ").append(phase).append(": ").append(late).append(line));
    Map<Violation.Kind, Integer> printed = new EnumMap<>(Violation.Kind.class);
    for (Violation violation : violations) {
      if (printed.merge(violation.kind(), 1, Integer::sum) <= MAX_PRINTED_PER_KIND) {
        text.append(violation).append(line);
      }
    }
    totals.forEach((kind, total) -> {
      if (total > MAX_PRINTED_PER_KIND) {
        text.append(kind).append(": ").append(total - MAX_PRINTED_PER_KIND).append(" more").append(line);
      }
    });
    return text.toString();
  }
}
