package io.foliot.engine;

/**
 * What bounds an engine. All of it may be left at {@link #defaults}.
 *
 * @param node the node's name, unique in the cluster
 * @param zone its data centre, rack or cell
 * @param loops how many event loops share its slots
 * @param windowMillis how far ahead the index is read into the wheel
 * @param wheelEntries how many ids the wheels hold at most, over all loops; some 80 bytes each
 * @param laneEntries how many ids one queue's lane holds at most on each loop; more are parked in the store
 * @param readyEntries how many ids all lanes of a loop hold together at most
 * @param claimBatch how many tasks one claim takes at most; fewer, where the store pays its way with fewer
 * @param callItems how many items of calls may wait for the store before more are refused
 * @param callBytes how many bytes of payload may wait for the store before more are refused
 * @param leaseMarginMillis by how much a lease outlasts the delivery timeout: the time to claim, begin and settle
 * @param maxClockOffsetMillis how far this node's clock may be from the store's; beyond, the node takes no slots of a
 *     cluster
 * @param destinationLimit how many attempts one destination gets at once, once it has shown that it bears them; where
 *        attempts are shorter than a claim takes, up to twice as many for a moment
 */
public record EngineOptions(String node, String zone, int loops, long windowMillis, int wheelEntries, int laneEntries,
    int readyEntries, int claimBatch, int callItems, long callBytes, long leaseMarginMillis, long maxClockOffsetMillis,
    int destinationLimit) {

  public EngineOptions {
    ensure(!node.isEmpty(), "a node has a name", node);
    ensure(loops >= 1 && loops <= 64, "loops is from 1 to 64", loops);
    ensure(windowMillis >= 1, "the window is at least 1 ms", windowMillis);
    ensure(wheelEntries >= 1, "the wheel holds at least one entry", wheelEntries);
    ensure(laneEntries >= 1, "a lane holds at least one entry", laneEntries);
    ensure(readyEntries >= 1, "the lanes hold at least one entry", readyEntries);
    ensure(claimBatch >= 1, "a claim takes at least one task", claimBatch);
    ensure(callItems >= 1, "at least one item may wait", callItems);
    ensure(callBytes >= 1, "at least one byte may wait", callBytes);
    ensure(leaseMarginMillis >= 1, "a lease outlasts the timeout", leaseMarginMillis);
    ensure(maxClockOffsetMillis >= 1, "a clock is off by some milliseconds", maxClockOffsetMillis);
    ensure(destinationLimit >= 1, "a destination gets at least one attempt", destinationLimit);
  }

  private static void ensure(boolean holds, String rule, Object value) {
    if (!holds) {
      throw new IllegalArgumentException(rule + ": value=" + value);
    }
  }

  /**
   * The defaults: a window of 5 s; a million ids in the wheel (80 MB); lanes of 20,000, 200,000 together (20 MB);
   * claims of 1,000, if the store wants them so large; calls of 200,000 items and 64 MiB; a margin of 20 s; a clock off
   * by 5 s.
   */
  public static EngineOptions defaults(String node) {
    return new EngineOptions(node, "", 1, 5_000, 1_000_000, 20_000, 200_000, 1_000, 200_000, 64L << 20, 20_000, 5_000,
        1_000);
  }

  /** The same in a zone. */
  public EngineOptions withZone(String newZone) {
    return new EngineOptions(node, newZone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        callItems, callBytes, leaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with a number of loops. */
  public EngineOptions withLoops(int newLoops) {
    return new EngineOptions(node, zone, newLoops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        callItems, callBytes, leaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with other sizes of wheel and lanes. */
  public EngineOptions withMemory(int newWheelEntries, int newLaneEntries, int newReadyEntries) {
    return new EngineOptions(node, zone, loops, windowMillis, newWheelEntries, newLaneEntries, newReadyEntries,
        claimBatch, callItems, callBytes, leaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with another window. */
  public EngineOptions withWindowMillis(long newWindowMillis) {
    return new EngineOptions(node, zone, loops, newWindowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        callItems, callBytes, leaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with another size of claims. */
  public EngineOptions withClaimBatch(int newClaimBatch) {
    return new EngineOptions(node, zone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, newClaimBatch,
        callItems, callBytes, leaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with another margin of leases. */
  public EngineOptions withLeaseMarginMillis(long newLeaseMarginMillis) {
    return new EngineOptions(node, zone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        callItems, callBytes, newLeaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with another bound on calls that wait. */
  public EngineOptions withCalls(int newCallItems, long newCallBytes) {
    return new EngineOptions(node, zone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        newCallItems, newCallBytes, leaseMarginMillis, maxClockOffsetMillis, destinationLimit);
  }

  /** The same with another bound on the clock's error. */
  public EngineOptions withMaxClockOffsetMillis(long newMaxClockOffsetMillis) {
    return new EngineOptions(node, zone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        callItems, callBytes, leaseMarginMillis, newMaxClockOffsetMillis, destinationLimit);
  }

  /** The same with another bound per destination. */
  public EngineOptions withDestinationLimit(int newDestinationLimit) {
    return new EngineOptions(node, zone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
        callItems, callBytes, leaseMarginMillis, maxClockOffsetMillis, newDestinationLimit);
  }
}
