package io.foliot.bench.store;

import java.time.Duration;
import java.util.Optional;

/** The processor time of this process, and of the servers that it has started, since this object was created. */
final class ProcessorUse {
  private final long programNanos = programNanos();
  private final long serversNanos = serversNanos();

  private static long programNanos() {
    return nanos(ProcessHandle.current().info());
  }

  private static long serversNanos() {
    return ProcessHandle.current().descendants().mapToLong(process -> nanos(process.info())).sum();
  }

  private static long nanos(ProcessHandle.Info info) {
    Optional<Duration> time = info.totalCpuDuration();
    return time.isPresent() ? time.get().toNanos() : 0;
  }

  /** Adds the processor time, in microseconds per item, to a line of a table. */
  void add(FigureTable table, String line, int items) {
    table.add(line, "processor, us each: nodes and workers", (programNanos() - programNanos) / 1e3 / items);
    table.add(line, "database", (serversNanos() - serversNanos) / 1e3 / items);
  }
}
