package io.foliot.engine;

/**
 * The limits of an engine. The {@link Builder} has a default for each setting except the name of the node.
 *
 * @param node the node's name, unique in the cluster
 * @param zone the data centre, rack or cell of the node; empty for none
 * @param loops how many event loops share the slots of the node
 * @param windowMillis the length of the look-ahead: how far into the future the index is read into the wheel
 * @param wheelEntries maximum number of ids in the wheels of all loops together; an id takes some 80 bytes
 * @param laneEntries maximum number of ids in the lane of one queue on one loop; further ids wait in the store, parked
 *     or in the index
 * @param readyEntries maximum number of ids in all lanes of a loop together. Half of this number is a common pool, and
 *     the other half is divided equally among the lanes; each lane may hold at least one id
 * @param claimBatch maximum number of tasks in one batch of claims; a store may have a lower limit
 * @param callItems how many items of calls may wait for the store before more are refused
 * @param callBytes how many bytes of calls may wait for the store before more are refused: the payloads, and 200 bytes
 *     per item. The payloads of running attempts have another limit of the same size
 * @param leaseMarginMillis by how much a lease that is not renewed outlasts the delivery timeout: the time to claim,
 *     begin and settle
 * @param renewedLeaseMillis length of a lease that is renewed while the attempt lasts. A delivery gets such a lease if
 *     its timeout is longer than this value; otherwise it gets a lease that outlasts the timeout. With the shorter
 *     lease, a task of a dead node comes back after this time, and not only after its timeout
 * @param maxClockOffsetMillis by how much this node's clock may differ from the store's; if they differ by more, the
 *     node takes no slots of a cluster
 * @param destinationLimit how many attempts one destination gets at the same time, once it has proved that it can
 *     handle them. If its attempts take less time than a claim, the destination may have up to twice this number for a
 *     moment
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

    /**
     * Sets the length of the look-ahead in milliseconds: how far into the future the index is read into the wheel. The
     * value must be at least 1; the default is 5 s.
     */
    public Builder windowMillis(long value) {
      windowMillis = value;
      return this;
    }

    /**
     * Sets the maximum number of ids in the wheels of all loops together. The value must be at least 1; the default is
     * a million. Each id takes some 80 bytes, so a million take 80 MB.
     */
    public Builder wheelEntries(int value) {
      wheelEntries = value;
      return this;
    }

    /**
     * Sets the maximum number of ids in the lane of one queue on one loop. Further ids wait in the store, parked or
     * in the index. The value must be at least 1; the default is 20,000.
     */
    public Builder laneEntries(int value) {
      laneEntries = value;
      return this;
    }

    /**
     * Sets the maximum number of ids in all lanes of a loop together. The value must be at least 1; the default is
     * 200,000 (20 MB).
     */
    public Builder readyEntries(int value) {
      readyEntries = value;
      return this;
    }

    /** Sets the maximum number of tasks in a batch of claims, at least 1; by default 1,000. A store may allow fewer. */
    public Builder claimBatch(int value) {
      claimBatch = value;
      return this;
    }

    /**
     * Sets how many items of calls may wait for the store. Further calls are refused. The value must be at least 1; the
     * default is 200,000.
     */
    public Builder callItems(int value) {
      callItems = value;
      return this;
    }

    /**
     * Sets how many bytes of calls may wait for the store. Further calls are refused. The value must be at least 1; the
     * default is 64 MiB. The payloads of running attempts have another limit of the same size.
     */
    public Builder callBytes(long value) {
      callBytes = value;
      return this;
    }

    /**
     * Sets by how many milliseconds a lease that is not renewed outlasts the delivery timeout. This is the time to
     * claim, begin and settle. The value must be at least 1; the default is 20 s.
     */
    public Builder leaseMarginMillis(long value) {
      leaseMarginMillis = value;
      return this;
    }

    /**
     * Sets the length, in milliseconds, of a lease that is renewed while the attempt lasts. A delivery gets such a
     * lease if its timeout is longer than this value. The value must be at least 300; the default is 10 s.
     */
    public Builder renewedLeaseMillis(long value) {
      renewedLeaseMillis = value;
      return this;
    }

    /**
     * Sets by how many milliseconds the clock of this node may differ from the clock of the store. If they differ by
     * more, the node takes no slots of a cluster. The value must be at least 1; the default is 5 s.
     */
    public Builder maxClockOffsetMillis(long value) {
      maxClockOffsetMillis = value;
      return this;
    }

    /**
     * Sets how many attempts one destination gets at the same time, once it has proved that it can handle them. The
     * value must be at least 1; the default is 1,000. If its attempts take less time than a claim, the destination may
     * have up to twice this number for a moment.
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
