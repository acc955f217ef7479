package io.foliot.engine;

/**
 * The limits of an engine. The {@link Builder} has a default for each setting except the name of the node.
 *
 * @param node the node's name, unique in the cluster
 * @param zone the data centre, rack or cell of the node; empty for none
 * @param loops how many event loops share the slots of the node
 * @param windowMillis how far ahead the index is read into the wheel
 * @param wheelEntries how many ids the wheels hold at most, over all loops; some 80 bytes each
 * @param laneEntries how many ids one queue's lane holds at most on each loop; more are parked in the store
 * @param readyEntries how many ids all lanes of a loop hold together at most. Half of this number is a common pool, and
 *     the other half is divided equally among the lanes; each lane may hold at least one id
 * @param claimBatch maximum number of tasks in one batch of claims; a store may have a lower limit
 * @param callItems how many items of calls may wait for the store before more are refused
 * @param callBytes how many bytes of calls may wait for the store before more are refused: the payloads, and 200 bytes
 *     per item. The payloads of running attempts have another limit of the same size
 * @param leaseMarginMillis by how much a lease that is not renewed outlasts the delivery timeout: the time to claim,
 *     begin and settle
 * @param renewedLeaseMillis length of a lease if the delivery timeout is longer than this length. The lease is renewed
 *     while the attempt lasts. A task of a dead node thus comes back after this time, and not after its timeout
 * @param maxClockOffsetMillis how far this node's clock may be from the store's; beyond that the node takes no slots of
 *     a cluster
 * @param destinationLimit how many attempts one destination gets at the same time, once it has proved that it can
 *     handle them. A destination whose attempts take less time than a claim gets up to twice as many for a moment
 */
public record EngineOptions(String node, String zone, int loops, long windowMillis, int wheelEntries, int laneEntries,
    int readyEntries, int claimBatch, int callItems, long callBytes, long leaseMarginMillis, long renewedLeaseMillis,
    long maxClockOffsetMillis, int destinationLimit) {
  private static final long MIN_RENEWED_MILLIS = 300;

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
    ensure(renewedLeaseMillis >= MIN_RENEWED_MILLIS, "a lease that is renewed lasts at least 300 ms",
        renewedLeaseMillis);
    ensure(maxClockOffsetMillis >= 1, "the permitted offset of the clock is at least 1 ms", maxClockOffsetMillis);
    ensure(destinationLimit >= 1, "a destination gets at least one attempt", destinationLimit);
  }

  private static void ensure(boolean holds, String rule, Object value) {
    if (!holds) {
      throw new IllegalArgumentException(rule + ": value=" + value);
    }
  }

  /** Returns the default options for a node with a name that is unique in the cluster. */
  public static EngineOptions defaults(String node) {
    return builder(node).build();
  }

  /** Returns a builder for a node with a name that is unique in the cluster; each other setting has a default. */
  public static Builder builder(String node) {
    return new Builder(node);
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder(node).zone(zone).loops(loops).windowMillis(windowMillis).wheelEntries(wheelEntries)
        .laneEntries(laneEntries).readyEntries(readyEntries).claimBatch(claimBatch).callItems(callItems)
        .callBytes(callBytes).leaseMarginMillis(leaseMarginMillis).renewedLeaseMillis(renewedLeaseMillis)
        .maxClockOffsetMillis(maxClockOffsetMillis).destinationLimit(destinationLimit);
  }

  /** Builds {@link EngineOptions}. Not safe for use by several threads. */
  public static final class Builder {
    private String node;
    private String zone = "";
    private int loops = 1;
    private long windowMillis = 5_000;
    private int wheelEntries = 1_000_000;
    private int laneEntries = 20_000;
    private int readyEntries = 200_000;
    private int claimBatch = 1_000;
    private int callItems = 200_000;
    private long callBytes = 64L << 20;
    private long leaseMarginMillis = 20_000;
    private long renewedLeaseMillis = 10_000;
    private long maxClockOffsetMillis = 5_000;
    private int destinationLimit = 1_000;

    private Builder(String node) {
      this.node = node;
    }

    /** Sets the name of the node, unique in the cluster and not empty. */
    public Builder node(String value) {
      node = value;
      return this;
    }

    /** Sets the data centre, rack or cell of the node; empty, the default, for none. */
    public Builder zone(String value) {
      zone = value;
      return this;
    }

    /** Sets how many event loops share the slots of the node, from 1 to 64; by default 1. */
    public Builder loops(int value) {
      loops = value;
      return this;
    }

    /** Sets how far ahead the index is read into the wheel, in milliseconds, at least 1; by default 5 s. */
    public Builder windowMillis(long value) {
      windowMillis = value;
      return this;
    }

    /**
     * Sets how many ids the wheels of all loops hold at most, at least 1, of some 80 bytes each; by default a million
     * (80 MB).
     */
    public Builder wheelEntries(int value) {
      wheelEntries = value;
      return this;
    }

    /**
     * Sets how many ids the lane of one queue holds at most on each loop, at least 1; more are parked in the store. By
     * default 20,000.
     */
    public Builder laneEntries(int value) {
      laneEntries = value;
      return this;
    }

    /** Sets how many ids all lanes of a loop hold together at most, at least 1; by default 200,000 (20 MB). */
    public Builder readyEntries(int value) {
      readyEntries = value;
      return this;
    }

    /** Sets the maximum number of tasks in a batch of claims, at least 1; by default 1,000. A store may allow fewer. */
    public Builder claimBatch(int value) {
      claimBatch = value;
      return this;
    }

    /** Sets how many items of calls may wait for the store before more are refused, at least 1; by default 200,000. */
    public Builder callItems(int value) {
      callItems = value;
      return this;
    }

    /**
     * Sets how many bytes of calls may wait for the store before more are refused, at least 1; by default 64 MiB. The
     * payloads of running attempts have another limit of the same size.
     */
    public Builder callBytes(long value) {
      callBytes = value;
      return this;
    }

    /**
     * Sets by how much a lease that is not renewed outlasts the delivery timeout, in milliseconds, at least 1. This is
     * the time to claim, begin and settle. By default 20 s.
     */
    public Builder leaseMarginMillis(long value) {
      leaseMarginMillis = value;
      return this;
    }

    /**
     * Sets the length of a lease if the delivery timeout is longer than this length, in milliseconds, at least 300; by
     * default 10 s. The lease is renewed while the attempt lasts.
     */
    public Builder renewedLeaseMillis(long value) {
      renewedLeaseMillis = value;
      return this;
    }

    /**
     * Sets how far the clock of this node may be from the clock of the store, in milliseconds, at least 1; by default
     * 5 s. Beyond it the node takes no slots of a cluster.
     */
    public Builder maxClockOffsetMillis(long value) {
      maxClockOffsetMillis = value;
      return this;
    }

    /**
     * Sets how many attempts one destination gets at the same time, at least 1, once it has proved that it can handle
     * them; by default 1,000. If its attempts take less time than a claim, it gets up to twice as many for a moment.
     */
    public Builder destinationLimit(int value) {
      destinationLimit = value;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if an option is out of its range
     */
    public EngineOptions build() {
      return new EngineOptions(node, zone, loops, windowMillis, wheelEntries, laneEntries, readyEntries, claimBatch,
          callItems, callBytes, leaseMarginMillis, renewedLeaseMillis, maxClockOffsetMillis, destinationLimit);
    }
  }
}
