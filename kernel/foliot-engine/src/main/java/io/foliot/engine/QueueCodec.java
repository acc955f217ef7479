package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.UnreadableException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A queue's settings as the content of a document, with the time since which the queue is being deleted. */
final class QueueCodec {
  private static final String SUBJECT = "queue";
  private static final int MAX_SETTINGS = 64;
  /** Value of {@code closingSince} for a queue that is not being deleted. */
  static final long OPEN = 0;

  /** The decoded content of a document. */
  record Decoded(QueueConfig queue, long closingSince) {}

  private QueueCodec() {}

  /** Returns the bytes of the settings of a queue that is not being deleted. */
  static byte[] encode(QueueConfig queue) {
    return encode(queue, OPEN);
  }

  /**
   * Returns the bytes of the settings of a queue.
   *
   * @param closingSince the time since which the queue is being deleted, in milliseconds of the store's clock, or
   *     {@link #OPEN}
   */
  static byte[] encode(QueueConfig queue, long closingSince) {
    return DocumentFormat.encode(SUBJECT, out -> {
      out.text(queue.name());
      writeTarget(queue.target(), out);
      writeRetry(queue.retry(), out);
      out.near(queue.priority());
      writeDouble(queue.rate() == null ? Double.NaN : queue.rate(), out);
      out.varint(queue.concurrency() == null ? 0 : queue.concurrency());
      writeDuration(queue.maxWait(), out);
      writeDuration(queue.maxRun(), out);
      out.u32(queue.maxJobs()).u32(queue.maxShards());
      writeDuration(queue.retention().finished(), out);
      writeDuration(queue.retention().failed(), out);
      out.u8(queue.paused() ? 1 : 0).u64(closingSince);
    });
  }

  /**
   * Reads the settings of a queue.
   *
   * @throws UnreadableException if the bytes cannot be decoded; the class of the exception gives the reason
   */
  static QueueConfig decode(byte[] content) {
    return decodeAll(content).queue();
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @throws UnreadableException if the bytes cannot be decoded; the class of the exception gives the reason
   */
  static Decoded decodeAll(byte[] content) {
    return DocumentFormat.decode(SUBJECT, content, QueueCodec::read);
  }

  private static Decoded read(BytesReader in) {
    String name = in.text();
    Target target = readTarget(in);
    Retry retry = readRetry(in);
    int priority = (int) in.near();
    double rate = readDouble(in);
    int concurrency = in.varint();
    QueueConfig queue = QueueConfig.builder(name, target).retry(retry).priority(priority)
        .rate(Double.isNaN(rate) ? null : Double.valueOf(rate))
        .concurrency(concurrency == 0 ? null : Integer.valueOf(concurrency)).maxWait(readNullableDuration(in))
        .maxRun(readDuration(in)).maxJobs(in.u32()).maxShards(in.u32()).retainFinished(readDuration(in))
        .retainFailed(readDuration(in)).paused(in.u8() != 0).build();
    return new Decoded(queue, in.u64());
  }

  private static void writeTarget(Target target, Bytes out) {
    out.text(target.type()).varint(target.settings().size());
    target.settings().forEach((name, value) -> out.text(name).text(value));
    writeDuration(target.timeout(), out);
  }

  private static Target readTarget(BytesReader in) {
    String type = in.text();
    int count = in.varint();
    if (count < 0 || count > MAX_SETTINGS) {
      throw new IllegalArgumentException("a target has too many settings: count=" + count + ", max=" + MAX_SETTINGS);
    }
    Map<String, String> settings = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      settings.put(in.text(), in.text());
    }
    return new Target(type, settings, readDuration(in));
  }

  private static void writeRetry(Retry retry, Bytes out) {
    out.varint(retry.maxAttempts());
    writeDuration(retry.backoff(), out);
    writeDouble(retry.multiplier(), out);
    writeDuration(retry.maxBackoff(), out);
    writeDouble(retry.jitter(), out);
  }

  private static Retry readRetry(BytesReader in) {
    return new Retry(in.varint(), readDuration(in), readDouble(in), readDuration(in), readDouble(in));
  }

  private static void writeDouble(double value, Bytes out) {
    out.u64(Double.doubleToLongBits(value));
  }

  private static double readDouble(BytesReader in) {
    return Double.longBitsToDouble(in.u64());
  }

  private static void writeDuration(@Nullable Duration duration, Bytes out) {
    out.near(duration == null ? -1 : duration.toMillis());
  }

  private static @Nullable Duration readNullableDuration(BytesReader in) {
    long millis = in.near();
    return millis < 0 ? null : Duration.ofMillis(millis);
  }

  private static Duration readDuration(BytesReader in) {
    Duration duration = readNullableDuration(in);
    if (duration == null) {
      throw new IllegalArgumentException("a duration of a queue's settings is missing");
    }
    return duration;
  }
}
