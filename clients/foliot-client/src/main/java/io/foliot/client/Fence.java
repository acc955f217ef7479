package io.foliot.client;

/**
 * A pair of numbers that strictly grows from attempt to attempt and from run to run of one shard of one job. A sink
 * that remembers the greatest fence of a shard can refuse a writer that was replaced without its knowledge.
 *
 * @param generation grows with each run, and with each new due time of a shard
 * @param attempt grows within a generation, from 1
 */
public record Fence(long generation, int attempt) implements Comparable<Fence> {
  /** Compares the generations, and for equal ones the attempts. */
  @Override
  public int compareTo(Fence other) {
    int byGeneration = Long.compare(generation, other.generation);
    return byGeneration == 0 ? Integer.compare(attempt, other.attempt) : byGeneration;
  }

  /** Returns the text {@code generation-attempt}; its order as text is not the order of fences. */
  @Override
  public String toString() {
    return generation + "-" + attempt;
  }
}
