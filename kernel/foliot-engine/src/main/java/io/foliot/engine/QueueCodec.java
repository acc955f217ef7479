package io.foliot.engine;

import io.foliot.core.Queue;
import io.foliot.core.Retry;
import io.foliot.core.Target;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A queue's settings as the bytes of a document. The first byte is the version. Behind the settings of a queue that is
 * being deleted is the instant since when; versions of Foliot that do not know of it read the settings alone.
 */
final class QueueCodec {
  private static final int VERSION = 1;
  private static final int MAX_SETTINGS = 64;
  /** In the place of an instant, of a queue that is not being deleted. */
  static final long OPEN = 0;

  /** What a document says. */
  record Decoded(Queue queue, long closingSince) {}

  private QueueCodec() {}

  /** The settings of a queue that tasks may be submitted to. */
  static byte[] encode(Queue queue) {
    return encode(queue, OPEN);
  }

  /**
   * The settings of a queue.
   *
   * @param closingSince since when it is being deleted, in milliseconds of the store's clock, or {@link #OPEN}
   */
  static byte[] encode(Queue queue, long closingSince) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(queue.name());
      out.writeUTF(queue.target().type());
      out.writeInt(queue.target().settings().size());
      for (Map.Entry<String, String> setting : queue.target().settings().entrySet()) {
        out.writeUTF(setting.getKey());
        out.writeUTF(setting.getValue());
      }
      writeDuration(out, queue.target().timeout());
      out.writeInt(queue.retry().maxAttempts());
      writeDuration(out, queue.retry().backoff());
      out.writeDouble(queue.retry().multiplier());
      writeDuration(out, queue.retry().maxBackoff());
      out.writeDouble(queue.retry().jitter());
      out.writeInt(queue.priority());
      out.writeDouble(queue.rate() == null ? Double.NaN : queue.rate());
      out.writeInt(queue.concurrency() == null ? 0 : queue.concurrency());
      writeDuration(out, queue.maxWait());
      writeDuration(out, queue.maxRun());
      writeDuration(out, queue.retainFinished());
      writeDuration(out, queue.retainFailed());
      out.writeBoolean(queue.paused());
      if (closingSince != OPEN) {
        out.writeLong(closingSince);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** @throws IllegalArgumentException if these are no settings this version can read */
  static Queue decode(byte[] content) {
    return decodeAll(content).queue();
  }

  /** @throws IllegalArgumentException if these are no settings this version can read */
  static Decoded decodeAll(byte[] content) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IllegalArgumentException("settings of a queue from a newer Foliot: version=" + version);
      }
      String name = in.readUTF();
      String type = in.readUTF();
      int count = in.readInt();
      if (count < 0 || count > MAX_SETTINGS) {
        throw new IllegalArgumentException("settings of a queue do not decode: count=" + count);
      }
      Map<String, String> settings = new TreeMap<>();
      for (int i = 0; i < count; i++) {
        settings.put(in.readUTF(), in.readUTF());
      }
      Target target = new Target(type, settings, readDuration(in));
      Retry retry = new Retry(in.readInt(), readDuration(in), in.readDouble(), readDuration(in), in.readDouble());
      int priority = in.readInt();
      double rate = in.readDouble();
      int concurrency = in.readInt();
      Duration maxWait = readNullableDuration(in);
      Queue queue = new Queue(name, target, retry, priority, Double.isNaN(rate) ? null : Double.valueOf(rate),
          concurrency == 0 ? null : Integer.valueOf(concurrency), maxWait, readDuration(in), readDuration(in),
          readDuration(in), in.readBoolean());
      return new Decoded(queue, in.available() == 0 ? OPEN : in.readLong());
    } catch (IOException e) {
      throw new IllegalArgumentException("settings of a queue do not decode", e);
    }
  }

  private static void writeDuration(DataOutputStream out, @Nullable Duration duration) throws IOException {
    out.writeLong(duration == null ? -1 : duration.toMillis());
  }

  private static @Nullable Duration readNullableDuration(DataInputStream in) throws IOException {
    long millis = in.readLong();
    return millis < 0 ? null : Duration.ofMillis(millis);
  }

  private static Duration readDuration(DataInputStream in) throws IOException {
    Duration duration = readNullableDuration(in);
    if (duration == null) {
      throw new IllegalArgumentException("settings of a queue do not decode: a duration is missing");
    }
    return duration;
  }
}
