package io.foliot.kill;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.client.Fence;
import io.foliot.client.JobContext;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The log of a worker's process. Each method that writes a line returns only when the kernel has the line. So the line
 * survives a SIGKILL of the process. Any thread may write.
 */
final class WorkerLog implements AutoCloseable {
  private static final String NO_ZONE = "-";

  private final FileOutputStream file;
  private final AtomicLong numbers = new AtomicLong();

  WorkerLog(Path path, String worker, String zone) throws IOException {
    file = new FileOutputStream(path.toFile(), true);
    line("worker", worker, zone);
  }

  static long micros() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
  }

  private synchronized void line(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.isEmpty() ? "" : " ").append(field);
    }
    try {
      file.write(line.append('\n').toString().getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Records that the worker has begun to claim. */
  void started() {
    line("started");
  }

  /** Records that all handlers have ended. */
  void stopped() {
    line("stopped");
  }

  /** Records that an attempt is about to begin, and returns the number of the attempt in this log. */
  long begun(JobContext job) {
    long number = numbers.incrementAndGet();
    String zone = job.zone();
    line("begun", number, micros(), job.job(), job.scheduledAt().toEpochMilli(), zone == null ? NO_ZONE : zone,
        job.shard(), job.fence().generation(), job.fence().attempt());
    return number;
  }

  /** Records a write of the handler to a sink outside Foliot, which is only simulated. */
  void wrote(long attempt) {
    line("wrote", attempt, micros());
  }

  /** Records that the server has confirmed an extension that was sent at {@code sentMicros} or later. */
  void held(long attempt, long sentMicros) {
    line("held", attempt, sentMicros);
  }

  /** Records that the server names a worker as the target of the shard. */
  void target(long attempt, String worker) {
    line("target", attempt, worker);
  }

  void ended(long attempt, ShardAttempt.End end) {
    line("ended", attempt, end.atMicros(), end.outcome(), end.isLost(), end.isInterrupted());
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  /**
   * The content of a log.
   *
   * @param isStarted whether the worker has begun to claim
   * @param isStopped whether all handlers have ended
   */
  record Content(boolean isStarted, boolean isStopped, List<ShardAttempt> attempts) {
    /** Returns whether an attempt has begun and not ended. */
    boolean isBusy() {
      return attempts.stream().anyMatch(attempt -> attempt.end() == null);
    }
  }

  /**
   * Reads the log of a process, which may still run. A missing file is read as an empty log, and an incomplete last
   * line is ignored.
   */
  static Content read(Path path) {
    String text;
    try {
      text = Files.exists(path) ? Files.readString(path) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Reader reader = new Reader();
    text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(reader::read);
    return new Content(reader.isStarted, reader.isStopped,
        reader.attempts.values().stream().map(Entry::attempt).toList());
  }

  private static final class Reader {
    private final Map<String, Entry> attempts = new LinkedHashMap<>();
    private String worker = "";
    private String zone = "";
    private boolean isStarted;
    private boolean isStopped;

    private Entry entry(String number) {
      return Objects.requireNonNull(attempts.get(number), "the log names an attempt that has not begun");
    }

    private void read(String line) {
      String[] fields = line.split(" ", -1);
      switch (fields[0]) {
        case "worker" -> {
          worker = fields[1];
          zone = fields[2];
        }
        case "started" -> isStarted = true;
        case "stopped" -> isStopped = true;
        case "begun" -> attempts.put(fields[1], new Entry(worker, zone, fields));
        case "wrote" -> entry(fields[1]).writes.add(Long.parseLong(fields[2]));
        case "held" -> entry(fields[1]).heldMicros = Long.parseLong(fields[2]);
        case "target" -> entry(fields[1]).target = fields[2];
        case "ended" -> entry(fields[1]).end = new ShardAttempt.End(Long.parseLong(fields[2]),
            ShardAttempt.Outcome.valueOf(fields[3]), Boolean.parseBoolean(fields[4]), Boolean.parseBoolean(fields[5]));
        default -> throw new IllegalStateException("a line of a worker's log is unknown: line=" + line);
      }
    }
  }

  private static final class Entry {
    private final String worker;
    private final String zone;
    /** The fields of the line that {@link WorkerLog#begun} wrote, with the word "begun" at index 0. */
    private final String[] begun;
    private final List<Long> writes = new ArrayList<>();
    private long heldMicros;
    private @Nullable String target;
    private ShardAttempt.@Nullable End end;

    Entry(String worker, String zone, String[] begun) {
      this.worker = worker;
      this.zone = zone;
      this.begun = begun;
    }

    ShardAttempt attempt() {
      ShardAttempt.Shard shard = new ShardAttempt.Shard(begun[3], Long.parseLong(begun[4]),
          begun[5].equals(NO_ZONE) ? "" : begun[5], Integer.parseInt(begun[6]));
      return new ShardAttempt(worker, zone, shard, new Fence(Long.parseLong(begun[7]), Integer.parseInt(begun[8])),
          Long.parseLong(begun[2]), writes, heldMicros, target, end);
    }
  }
}
