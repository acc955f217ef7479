package io.foliot.engine;

import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.UnreadableException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The division of a limited queue's permits and rate among the nodes. It is the content of a document that nodes change
 * by compare-and-set. The permits of all holders together exceed the queue's limit only after the limit was lowered,
 * and only until the holders have given up the surplus. Immutable.
 *
 * <p>A holder may claim until its permits end, at a time by the store's clock, and its claims carry that time. If the
 * holder does not extend the permits, another node later removes the holder. This frees the permits, except one for
 * each attempt that may still be running. Apart from such removals, and from {@link #noLaterThan}, each node changes
 * only its own permits, towards its fair share.
 *
 * @param holders ordered by instance
 */
record PermitRecord(List<Holder> holders) {
  static final PermitRecord EMPTY = new PermitRecord(List.of());

  /** Number of parts into which a rate is divided. */
  static final int RATE_PARTS = 1_000;

  /** Instance of the holder that keeps the permits of nodes that are gone. No node has this instance. */
  static final long NOBODY = 0;

  private static final String SUBJECT = "permits";
  private static final int MAX_HOLDERS = 10_000;
  /** Length of a turn: the nodes take turns to have the permits that cannot be divided evenly. */
  private static final long TURN_MILLIS = 1_000;

  /**
   * The permits and the part of the rate that one process of a node has.
   *
   * @param instance a random number, drawn when the node started
   * @param node the name of the node, for log messages
   * @param permits the maximum number of concurrent attempts of the node
   * @param rateParts the node's part of the rate, of {@link #RATE_PARTS}
   * @param wants how many concurrent attempts the node would have without a limit
   * @param untilMillis the end of the permits: the node may claim until then, by the store's clock, in milliseconds
   *     since 1970
   */
  record Holder(long instance, String node, int permits, int rateParts, int wants, long untilMillis) {
    private Holder with(int newPermits, int newRateParts) {
      return new Holder(instance, node, newPermits, newRateParts, wants, untilMillis);
    }
  }

  @Nullable
  Holder holder(long instance) {
    return holders.stream().filter(holder -> holder.instance == instance).findFirst().orElse(null);
  }

  /**
   * Returns this record with the given holder in place of the holder of the same instance. A holder without permits,
   * rate and demand is removed.
   */
  PermitRecord with(Holder changed) {
    List<Holder> all = new ArrayList<>(holders);
    all.removeIf(holder -> holder.instance == changed.instance);
    if (changed.permits > 0 || changed.rateParts > 0 || changed.wants > 0) {
      all.add(changed);
    }
    all.sort(Comparator.comparingLong(Holder::instance));
    return new PermitRecord(List.copyOf(all));
  }

  /**
   * Returns this record with each later end of a holder's permits replaced by {@code latestMillis}. A later end was
   * written before the store's clock was set back.
   */
  PermitRecord noLaterThan(long latestMillis) {
    List<Holder> all = holders.stream().map(holder -> holder.untilMillis <= latestMillis
        ? holder
        : new Holder(holder.instance, holder.node, holder.permits, holder.rateParts, holder.wants, latestMillis))
        .toList();
    return new PermitRecord(all);
  }

  /**
   * Returns this record without these holders, whose permits have ended. For each of their attempts that may still be
   * running, a permit goes to {@link #NOBODY}. We cannot tell which node made a claim, so the permit must not go to a
   * holder that may merely have been paused. The other permits of these holders and their parts of the rate are free.
   *
   * @param stillRunning number of running attempts, of any nodes, that were claimed no later than the latest end of
   *     these holders' permits
   */
  PermitRecord without(List<Holder> gone, int stillRunning) {
    PermitRecord rest = this;
    int permits = 0;
    long latestMillis = Long.MIN_VALUE;
    for (Holder holder : gone) {
      permits += holder.permits;
      latestMillis = Math.max(latestMillis, holder.untilMillis);
      rest = rest.with(new Holder(holder.instance, holder.node, 0, 0, 0, 0));
    }
    int kept = Math.min(permits, stillRunning);
    Holder before = rest.holder(NOBODY);
    if (before != null) {
      kept += before.permits;
      latestMillis = Math.max(latestMillis, before.untilMillis);
    }
    return rest.with(new Holder(NOBODY, "", kept, 0, 0, latestMillis));
  }

  /**
   * Returns the permits that a node should have next. The node takes free permits, and gives up permits above its fair
   * share that other nodes lack. Shares follow max-min fairness: all are raised together until each demand is met or
   * the limit is reached.
   *
   * @param mine the permits and the demand of the node
   * @param limit the queue's permits; {@link Integer#MAX_VALUE} if it has no such limit
   * @param isRated whether the queue has a rate
   * @param nowMillis the current time, by the store's clock
   */
  Holder next(Holder mine, int limit, boolean isRated, long nowMillis) {
    List<Integer> wants = new ArrayList<>();
    List<Integer> permits = new ArrayList<>();
    List<Integer> rates = new ArrayList<>();
    int self = 0;
    for (Holder holder : with(mine).holders) {
      boolean isMine = holder.instance == mine.instance;
      if (isMine) {
        self = wants.size();
      }
      // An expired holder demands nothing, but keeps its permits until they are reclaimed.
      wants.add(isMine || holder.untilMillis >= nowMillis ? holder.wants : 0);
      permits.add(holder.permits);
      rates.add(holder.rateParts);
    }
    if (mine.permits == 0 && mine.rateParts == 0 && mine.wants == 0) {
      return mine;
    }
    long turn = Math.floorDiv(nowMillis, TURN_MILLIS);
    List<Integer> rateWants = wants.stream().map(want -> want > 0 ? RATE_PARTS : 0).toList();
    return mine.with(moved(self, wants, permits, limit, turn),
        isRated ? moved(self, rateWants, rates, RATE_PARTS, turn) : 0);
  }

  private static int moved(int self, List<Integer> wants, List<Integer> have, int limit, long turn) {
    if (limit == Integer.MAX_VALUE) {
      return have.get(self);
    }
    int[] fair = fair(wants, limit, turn);
    long free = limit;
    long lacking = 0;
    for (int i = 0; i < fair.length; i++) {
      free -= have.get(i);
      lacking += i == self ? 0 : Math.max(0, fair[i] - have.get(i));
    }
    int mine = have.get(self);
    int least = Math.min(mine, fair[self]);
    long owed = lacking - free;
    if (owed > 0 && mine > least) {
      return (int) Math.max(least, mine - owed);
    }
    // The node takes free permits up to its share. Beyond its share, it takes only permits that no other node lacks.
    long due = Math.clamp(free, 0, Math.max(0, fair[self] - mine));
    long spare = Math.max(0, free - due - lacking);
    return (int) Math.min(Math.max(mine, wants.get(self)), mine + due + spare);
  }

  /** Returns the fair shares of these demands, in their order; together at most {@code limit}. */
  private static int[] fair(List<Integer> wants, int limit, long turn) {
    int[] shares = new int[wants.size()];
    int left = limit;
    while (left > 0) {
      List<Integer> open = new ArrayList<>();
      for (int i = 0; i < shares.length; i++) {
        if (shares[i] < wants.get(i)) {
          open.add(i);
        }
      }
      if (open.isEmpty()) {
        break;
      }
      int each = left / open.size();
      if (each == 0) {
        for (int i = 0; i < left; i++) {
          shares[open.get((int) Math.floorMod(turn + i, (long) open.size()))]++;
        }
        break;
      }
      for (int i : open) {
        int more = Math.min(each, wants.get(i) - shares[i]);
        shares[i] += more;
        left -= more;
      }
    }
    return shares;
  }

  /** Returns the bytes of this record as the content of a document. */
  byte[] encode() {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.varint(holders.size());
      for (Holder holder : holders) {
        out.u64(holder.instance).text(holder.node).varint(holder.permits).varint(holder.rateParts).varint(holder.wants)
            .u64(holder.untilMillis);
      }
    });
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @throws UnreadableException if the bytes cannot be decoded; the class of the exception gives the reason
   */
  static PermitRecord decode(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, PermitRecord::read);
  }

  private static PermitRecord read(BytesReader in) {
    int count = in.varint();
    if (count < 0 || count > MAX_HOLDERS) {
      throw new IllegalArgumentException("permits have too many holders: count=" + count + ", max=" + MAX_HOLDERS);
    }
    List<Holder> holders = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      holders.add(new Holder(in.u64(), in.text(), in.varint(), in.varint(), in.varint(), in.u64()));
    }
    return new PermitRecord(List.copyOf(holders));
  }
}
