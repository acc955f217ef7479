package io.foliot.engine;

import io.foliot.core.store.format.DocumentFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The workers that a node declares alive, and the end of this declaration. Each node that has workers writes them into
 * a document.
 *
 * @param untilMicros the end of the declaration, in microseconds of the store's clock
 * @param workers the workers by name, each with its zone and the queues whose tasks it takes
 */
record Vouchers(long untilMicros, Map<String, WorkerRoster.Present> workers) {
  private static final String SUBJECT = "workers";
  /** Validity of a declaration. */
  static final long VALID_MICROS = 10_000_000L;

  /**
   * Returns whether the declaration is valid now. A declaration whose end is too far ahead is invalid: it was written
   * before the store's clock was set back.
   */
  boolean hold(long nowMicros) {
    return untilMicros > nowMicros && untilMicros - nowMicros <= 2 * VALID_MICROS;
  }

  byte[] encode() {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.u64(untilMicros).varint(workers.size());
      workers.forEach((worker, present) -> {
        out.text(worker).text(present.zone()).varint(present.queues().size());
        present.queues().forEach(out::text);
      });
    });
  }

  static Vouchers decode(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, in -> {
      long until = in.u64();
      Map<String, WorkerRoster.Present> workers = new TreeMap<>();
      for (int i = FleetRecord.ensureCount(in.varint()); i > 0; i--) {
        String worker = in.text();
        String zone = in.text();
        Set<String> queues = new TreeSet<>();
        for (int left = FleetRecord.ensureCount(in.varint()); left > 0; left--) {
          queues.add(in.text());
        }
        workers.put(worker, new WorkerRoster.Present(zone, queues));
      }
      return new Vouchers(until, workers);
    });
  }
}
