package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** The numbers of constants in stored records. A number never changes and is never used again. */
final class JobCodes {
  private JobCodes() {}

  static int code(Overlap overlap) {
    return switch (overlap) {
      case SKIP -> 1;
      case QUEUE -> 2;
      case REPLACE -> 3;
      case ALLOW -> 4;
    };
  }

  static int code(Scope scope) {
    return switch (scope) {
      case ONE -> 1;
      case PER_ZONE -> 2;
      case ALL -> 3;
    };
  }

  static int code(Allocation allocation) {
    return switch (allocation) {
      case FREE -> 1;
      case AVERAGE -> 2;
      case ODD_EVEN -> 3;
      case HASH -> 4;
      case ROUND_ROBIN -> 5;
      case OWN -> 6;
    };
  }

  static int code(RunPhase phase) {
    return switch (phase) {
      case BEFORE -> 1;
      case SHARDS -> 2;
      case AFTER -> 3;
    };
  }

  static int code(Misfire.Policy policy) {
    return switch (policy) {
      case ONCE -> 1;
      case ALL -> 2;
      case SKIP -> 3;
    };
  }

  /** Returns an immutable set of these phases, in their order. */
  static Set<RunPhase> copy(Collection<RunPhase> phases) {
    if (phases.isEmpty()) {
      return Set.of();
    }
    EnumSet<RunPhase> copy = EnumSet.noneOf(RunPhase.class);
    copy.addAll(phases);
    return Collections.unmodifiableSet(copy);
  }

  /** Returns a number with a bit for each of these phases. The code of a phase is the position of its bit. */
  static int bits(Collection<RunPhase> phases) {
    return phases.stream().mapToInt(phase -> 1 << code(phase)).sum();
  }

  /**
   * Returns the phases whose bits are set in a number.
   *
   * @throws IllegalArgumentException if a bit belongs to no phase
   */
  static Set<RunPhase> phases(int bits) {
    EnumSet<RunPhase> phases = EnumSet.noneOf(RunPhase.class);
    for (RunPhase phase : RunPhase.values()) {
      if ((bits & (1 << code(phase))) != 0) {
        phases.add(phase);
      }
    }
    if (bits(phases) != bits) {
      throw new IllegalArgumentException("no such phases of a run: bits=" + bits);
    }
    return Collections.unmodifiableSet(phases);
  }
}
