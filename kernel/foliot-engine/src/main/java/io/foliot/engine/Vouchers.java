package io.foliot.engine;

import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.format.DocumentFormat;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The workers that a node declares alive, and the end of this declaration. Each node that has workers writes them into
 * a document.
 *
 * @param untilMicros the end of the declaration, in microseconds of the store's clock
 * @param workers the workers, each with its zone and the queues whose tasks it takes
 */
record Vouchers(long untilMicros, Map<WorkerId, WorkerRoster.Present> workers) {
  private static final String SUBJECT = "workers";
  /** Maximum number of workers of a node. The writer and the readers of a document have the same bounds. */
  static final int MAX_WORKERS = 4_096;
  /** Maximum number of queues of a worker. */
  static final int MAX_QUEUES = 4_096;
  /** Validity of a declaration. */
  static final long VALID_MICROS = 10_000_000L;

  /**
   * The declarations whose ends are too far ahead of the store's clock, as one node has seen them. Such a declaration
   * was written before the store's clock was set back, or this node's reading of that clock is older than the
   * declaration. Neither shows that its node is gone. But a live node renews its declaration within
   * {@link #VALID_MICROS}, so a declaration that has stayed the same for that time is invalid. Not thread-safe.
   */
  static final class Sightings {
    private record Sighting(long untilMicros, long sinceMicros) {}

    private final Map<String, Sighting> farAhead = new HashMap<>();

    /**
     * Returns whether the declaration of a node is valid.
     *
     * @param nowMicros the store's clock, read shortly before the declaration
     */
    boolean holds(String node, Vouchers vouchers, long nowMicros) {
      if (vouchers.untilMicros() - nowMicros <= 2 * VALID_MICROS) {
        farAhead.remove(node);
        return vouchers.untilMicros() > nowMicros;
      }
      Sighting sighting = farAhead.get(node);
      if (sighting == null || sighting.untilMicros() != vouchers.untilMicros() || nowMicros < sighting.sinceMicros()) {
        farAhead.put(node, new Sighting(vouchers.untilMicros(), nowMicros));
        return true;
      }
      return nowMicros - sighting.sinceMicros() < VALID_MICROS;
    }
  }

  /** @throws IllegalArgumentException if a reader would refuse the number of workers, or of a worker's queues */
  Vouchers {
    ensureCount(workers.size(), MAX_WORKERS);
    workers.values().forEach(worker -> ensureCount(worker.queues().size(), MAX_QUEUES));
  }

  private static int ensureCount(int count, int max) {
    return FleetRecord.ensureCount(count, max);
  }

  byte[] encode() {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.u64(untilMicros).varint(workers.size());
      workers.forEach((worker, present) -> {
        out.text(worker.owner()).text(worker.name()).text(present.zone()).varint(present.queues().size());
        present.queues().forEach(out::text);
      });
    });
  }

  static Vouchers decode(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, in -> {
      long until = in.u64();
      Map<WorkerId, WorkerRoster.Present> workers = new HashMap<>();
      for (int i = ensureCount(in.varint(), MAX_WORKERS); i > 0; i--) {
        WorkerId worker = new WorkerId(in.text(), in.text());
        String zone = in.text();
        Set<String> queues = new TreeSet<>();
        for (int left = ensureCount(in.varint(), MAX_QUEUES); left > 0; left--) {
          queues.add(in.text());
        }
        workers.put(worker, new WorkerRoster.Present(zone, queues));
      }
      return new Vouchers(until, workers);
    });
  }
}
