package io.foliot.client;

/**
 * A pair of numbers for one shard of one job, which grows with each attempt and with each run. A system that stores the
 * greatest fence can refuse the writes of an attempt that was replaced but still runs.
 *
 * @param generation the generation of the shard's task, which grows with each run and with each new due time
 * @param attempt the number of the attempt within the generation, from 1
 */
public record Fence(long generation, int attempt) implements Comparable<Fence> {
  /** Compares by generation, then by attempt. */
  @Override
  public int compareTo(Fence other) {
    int byGeneration = Long.compare(generation, other.generation);
    return byGeneration == 0 ? Integer.compare(attempt, other.attempt) : byGeneration;
  }

  /** Returns the text {@code generation-attempt}; the order of such texts is not the order of fences. */
  @Override
  public String toString() {
    return generation + "-" + attempt;
  }
}
