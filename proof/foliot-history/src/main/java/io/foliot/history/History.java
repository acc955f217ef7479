package io.foliot.history;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Records events, in memory or in a file, from any thread.
 *
 * <p>A file has one line per event. Each line is handed to the operating system before the recording call returns, so
 * recorded events survive a kill of the writer, but not a power loss. A line that a kill left incomplete is ignored. A
 * writer that restarts may append to the same file.
 */
public final class History implements Closeable {
  private final @Nullable FileChannel file;
  private final @Nullable Path path;
  private final List<Event> events = new ArrayList<>(); // guarded by this
  private final AtomicLong numbers = new AtomicLong();

  private History(@Nullable Path path, @Nullable FileChannel file) {
    this.path = path;
    this.file = file;
  }

  public static History inMemory() {
    return new History(null, null);
  }

  /** Opens a history that appends to a file, which is created if it does not exist. */
  public static History in(Path path) throws IOException {
    FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ,
        StandardOpenOption.WRITE);
    file.position(file.size());
    History history = new History(path, file);
    history.endTornLine();
    return history;
  }

  /**
   * Reads files into one history in memory, to which events may be added. Events get new numbers, because several
   * writers, or several processes of one writer, may have used the same numbers.
   *
   * @throws IOException if a file cannot be read, or has a whole line that is not an event
   */
  public static History read(Path... paths) throws IOException {
    History history = inMemory();
    for (Path path : paths) {
      history.load(path);
    }
    return history;
  }

  /** Records that a request is about to be sent, and returns the number of the operation. */
  public long invoked(long atMillis, Request request) {
    long op = numbers.incrementAndGet();
    append(new Event.Invoked(op, atMillis, request));
    return op;
  }

  public void answered(long op, long atMillis, Reply reply) {
    append(new Event.Answered(op, atMillis, reply));
  }

  /** Records that an attempt has arrived, and returns the number of the delivery. */
  public long began(long atMillis, Attempt attempt) {
    long delivery = numbers.incrementAndGet();
    append(new Event.Began(delivery, atMillis, attempt));
    return delivery;
  }

  /** Records that the receiver is about to answer a delivery. */
  public void replied(long delivery, long atMillis, Event.Reception reception) {
    append(new Event.Replied(delivery, atMillis, reception));
  }

  /** Records that a fault is about to be injected, and returns the number for {@link #faultEnded}. */
  public long faultBegan(long atMillis, Event.Fault fault, String what) {
    long window = numbers.incrementAndGet();
    append(new Event.FaultBegan(window, atMillis, fault, what));
    return window;
  }

  public void faultEnded(long window, long atMillis) {
    append(new Event.FaultEnded(window, atMillis));
  }

  /** Records that the store may have lost its writes since an instant, inclusive. */
  public void forgot(long atMillis, long fromMillis) {
    append(new Event.Forgot(atMillis, fromMillis));
  }

  public void runEnded(long atMillis) {
    append(new Event.RunEnded(atMillis));
  }

  /** Appends an event, which keeps its number. */
  public synchronized void append(Event event) {
    if (file == null) {
      events.add(event);
    } else {
      write(file, EventLine.encode(event) + "\n");
    }
  }

  /**
   * Returns the events recorded so far, in the order of recording. The events of a file get new numbers, as in
   * {@link #read}.
   */
  public synchronized List<Event> events() {
    if (path == null) {
      return List.copyOf(events);
    }
    try {
      return read(path).events();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Closes the file, if there is one. */
  @Override
  public synchronized void close() throws IOException {
    if (file != null) {
      file.close();
    }
  }

  private synchronized void endTornLine() throws IOException {
    if (file == null || file.size() == 0) {
      return;
    }
    ByteBuffer last = ByteBuffer.allocate(1);
    file.read(last, file.size() - 1);
    if (last.get(0) != '\n') {
      write(file, "\n");
    }
  }

  private static void write(FileChannel file, String text) {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    try {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void load(Path path) throws IOException {
    Renumbering renumbering = new Renumbering();
    // An incomplete line may end within a UTF-8 character. This reader accepts that; the reader of Files does not.
    try (BufferedReader reader = new BufferedReader(
        new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8))) {
      int number = 0;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        number++;
        if (EventLine.isWhole(line)) {
          append(decode(line, renumbering, path, number));
        }
      }
    }
  }

  private static Event decode(String line, Renumbering renumbering, Path path, int number) throws IOException {
    try {
      return renumbering.apply(EventLine.decode(line));
    } catch (IllegalArgumentException | ArithmeticException failure) {
      throw new IOException("a line is not an event: file=" + path + ", line=" + number + ": " + line, failure);
    }
  }

  /** Gives every beginning a new number, and every end the new number of its beginning. */
  private final class Renumbering {
    private final Map<Long, Long> fresh = new HashMap<>();

    Event apply(Event event) {
      return switch (event) {
        case Event.Invoked e -> new Event.Invoked(renew(e.op()), e.atMillis(), e.request());
        case Event.Answered e -> new Event.Answered(renewed(e.op()), e.atMillis(), e.reply());
        case Event.Began e -> new Event.Began(renew(e.delivery()), e.atMillis(), e.attempt());
        case Event.Replied e -> new Event.Replied(renewed(e.delivery()), e.atMillis(), e.reception());
        case Event.FaultBegan e -> new Event.FaultBegan(renew(e.window()), e.atMillis(), e.fault(), e.what());
        case Event.FaultEnded e -> new Event.FaultEnded(renewed(e.window()), e.atMillis());
        case Event.Forgot e -> e;
        case Event.RunEnded e -> e;
      };
    }

    private long renew(long number) {
      long renewed = numbers.incrementAndGet();
      fresh.put(number, renewed);
      return renewed;
    }

    private long renewed(long number) {
      Long renewed = fresh.get(number);
      if (renewed == null) {
        throw new IllegalArgumentException("an event ends something that has not begun: number=" + number);
      }
      return renewed;
    }
  }
}
