package io.foliot.jobs;

import io.foliot.core.Address;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The facts about an ended run that lead to its tasks. The id of a task without an address follows from the run alone;
 * the id of a shard with an address also needs the address. Immutable.
 *
 * @param reason why a task of the run failed: the first failure that a pass has read, cut to {@link Run#MAX_REASON}
 *     characters; empty if none failed
 * @param unknown how many tasks of the run ended without a known result
 * @param failed the first {@link #MAX_FAILED} failed shards, in the order of their numbers
 * @param targets where the shards ran; {@link Targets#NONE} if they had no addresses, or if the targets are dropped
 * @param isWhole whether the id of each shard is known; false if targets have been dropped
 */
record RunTrace(String reason, int unknown, List<Failed> failed, Targets targets, boolean isWhole) {
  /** Trace of a run without failures and addresses, and of times that did not run. */
  static final RunTrace NONE = new RunTrace("", 0, List.of(), Targets.NONE, true);
  /** Trace of a run with addresses whose trace was dropped. */
  private static final RunTrace DROPPED = new RunTrace("", 0, List.of(), Targets.NONE, false);

  /** Maximum number of failed shards of a trace. */
  static final int MAX_FAILED = 64;
  /** Limit of the size of the targets of a trace, in bytes: about 500 workers. */
  private static final int MAX_TARGET_BYTES = 1 << 10;
  private static final int WHOLE = 1;
  private static final int PLACED = 2;
  /** Estimated bytes of a failed shard in the record of the job. */
  private static final int FAILED_BYTES = 5;

  /** A failed shard, with its address. */
  record Failed(int shard, Address address) {}

  RunTrace {
    failed = List.copyOf(failed);
  }

  /**
   * Returns the trace of a run that ends now.
   *
   * @param reason why the run failed, or empty
   */
  static RunTrace of(Run run, String reason) {
    List<Failed> failed = run.failed().stream().limit(MAX_FAILED)
        .mapToObj(shard -> new Failed(shard, run.targets().address(shard))).toList();
    boolean isWhole = run.targets().isNone() || run.targets().bytes() <= MAX_TARGET_BYTES;
    return new RunTrace(reason, run.unknown(), failed, isWhole ? run.targets() : Targets.NONE, isWhole);
  }

  /** Returns what remains if the record of the job has no room for this trace. */
  RunTrace dropped() {
    return isWhole && targets.isNone() ? NONE : DROPPED;
  }

  RunTrace withoutReason() {
    return reason.isEmpty() ? this : new RunTrace("", unknown, failed, targets, isWhole);
  }

  /** Returns about how many bytes this trace takes in the record of the job; 0 if it has nothing to drop. */
  int size() {
    return equals(NONE) || equals(DROPPED)
        ? 0
        : 4 + reason.length() + failed.size() * FAILED_BYTES
            + (targets.isNone() ? 0 : targets.bytes());
  }

  /** Returns the address of a shard, or null if it is not known. */
  @Nullable
  Address address(int shard) {
    if (isWhole) {
      return targets.address(shard);
    }
    return failed.stream().filter(each -> each.shard() == shard).map(Failed::address).findFirst().orElse(null);
  }

  /** Returns the numbers of the failed shards. */
  BitSet failedShards() {
    BitSet shards = new BitSet();
    failed.forEach(each -> shards.set(each.shard()));
    return shards;
  }

  void write(Bytes out) {
    out.u8((isWhole ? WHOLE : 0) | (targets.isNone() ? 0 : PLACED)).text(reason).varint(unknown).varint(failed.size());
    for (Failed each : failed) {
      out.varint(each.shard()).u8(each.address().kind().code()).varint(each.address().number());
    }
    if (!targets.isNone()) {
      targets.write(out);
    }
  }

  /**
   * Reads a trace that {@link #write} has written.
   *
   * @throws IllegalArgumentException if the bytes do not encode a trace
   */
  static RunTrace read(BytesReader in) {
    int flags = in.u8();
    String reason = in.text();
    int unknown = in.varint();
    List<Failed> failed = new ArrayList<>();
    for (int left = in.varint(); left > 0; left--) {
      failed.add(new Failed(in.varint(), new Address(Address.Kind.of(in.u8()), in.varint())));
    }
    return new RunTrace(reason, unknown, failed, (flags & PLACED) == 0 ? Targets.NONE : Targets.read(in),
        (flags & WHOLE) != 0);
  }
}
