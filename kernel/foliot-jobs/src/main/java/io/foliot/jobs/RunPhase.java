package io.foliot.jobs;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The phases of a run, in their order. The tasks of the phase {@link #SHARDS} are the shards. The other two phases have
 * one task each: the listener before the shards, and the listener after them.
 */
public enum RunPhase {
  /** The listener before the shards runs. The shards begin only if this listener succeeds. */
  BEFORE(1),
  /** The shards run. */
  SHARDS(2),
  /** The listener after the shards runs. The headers of this task contain the result of the run. */
  AFTER(3);

  private final int code;

  RunPhase(int code) {
    this.code = code;
  }

  /** Returns the code of this phase in stored records. */
  int code() {
    return code;
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
    return phases.stream().mapToInt(phase -> 1 << phase.code).sum();
  }

  /**
   * Returns the phases whose bits are set in a number.
   *
   * @throws IllegalArgumentException if a bit belongs to no phase
   */
  static Set<RunPhase> of(int bits) {
    EnumSet<RunPhase> phases = EnumSet.noneOf(RunPhase.class);
    for (RunPhase phase : values()) {
      if ((bits & (1 << phase.code)) != 0) {
        phases.add(phase);
      }
    }
    if (bits(phases) != bits) {
      throw new IllegalArgumentException("no such phases of a run: bits=" + bits);
    }
    return Collections.unmodifiableSet(phases);
  }
}
