package io.foliot.delivery.http;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.util.concurrent.locks.Lock;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.reactor.Command;
import org.apache.hc.core5.reactor.IOEventHandler;
import org.apache.hc.core5.reactor.IOSession;
import org.apache.hc.core5.reactor.ssl.SSLIOSession;
import org.apache.hc.core5.util.Timeout;

/**
 * A connection that limits how many bytes are read. An input event reads no more after {@link #MAX_EVENT_BYTES}, so
 * that all connections of an I/O thread get their turns. Reading fails if an answer has more than
 * {@link #MAX_ANSWER_BYTES}.
 *
 * <p>The client reads a connection until no bytes are left. The limits of the client apply only to one head, one line
 * or the payload of a body. A receiver could therefore occupy the I/O thread: it stays within these limits, but sends
 * without end and faster than the client reads. A request is written before its answer is read, so all bytes read since
 * the last write belong to one answer.
 *
 * <p>Over TLS, the client decrypts one buffer per event. Bytes left in this buffer cause no further event; only new
 * bytes in the socket do. The whole buffer must therefore be read in the same event. The limit per event does not
 * apply, but the size of the buffer bounds the event.
 */
final class BoundedSession implements IOSession {
  /**
   * Maximum number of bytes of an answer: all its heads, the framing of its chunks, its body and its trailers. It is
   * more than the longest head that the client accepts.
   */
  static final int MAX_ANSWER_BYTES = 1 << 20;

  /**
   * Number of bytes after which an input event stops reading. Most answers have fewer bytes. The rest of a longer
   * answer is read by the next event, which follows at once.
   */
  static final int MAX_EVENT_BYTES = 16 << 10;

  private final IOSession session;
  private final boolean encrypted;

  // I/O thread only
  private int answerBytes;
  private int eventBytes;

  BoundedSession(IOSession session) {
    this.session = session;
    encrypted = session instanceof SSLIOSession;
  }

  @Override
  public int read(ByteBuffer bytes) throws IOException {
    if (eventBytes >= MAX_EVENT_BYTES && !encrypted) {
      return 0;
    }
    int count = session.read(bytes);
    if (count > 0) {
      eventBytes += count;
      answerBytes += count;
      if (answerBytes > MAX_ANSWER_BYTES) {
        throw new EndlessAnswerException("the answer is longer than the limit: limitBytes=" + MAX_ANSWER_BYTES);
      }
    }
    return count;
  }

  @Override
  public int write(ByteBuffer bytes) throws IOException {
    answerBytes = 0;
    return session.write(bytes);
  }

  @Override
  public IOEventHandler getHandler() {
    return session.getHandler();
  }

  @Override
  public void upgrade(IOEventHandler handler) {
    session.upgrade(handler);
  }

  @Override
  public Lock getLock() {
    return session.getLock();
  }

  @Override
  public void enqueue(Command command, Command.Priority priority) {
    session.enqueue(command, priority);
  }

  @Override
  public boolean hasCommands() {
    return session.hasCommands();
  }

  @Override
  public Command poll() {
    return session.poll();
  }

  @Override
  public ByteChannel channel() {
    return session.channel();
  }

  @Override
  public SocketAddress getRemoteAddress() {
    return session.getRemoteAddress();
  }

  @Override
  public SocketAddress getLocalAddress() {
    return session.getLocalAddress();
  }

  @Override
  public int getEventMask() {
    return session.getEventMask();
  }

  @Override
  public void setEventMask(int operations) {
    session.setEventMask(operations);
  }

  @Override
  public void setEvent(int operation) {
    session.setEvent(operation);
  }

  @Override
  public void clearEvent(int operation) {
    session.clearEvent(operation);
  }

  @Override
  public boolean isOpen() {
    return session.isOpen();
  }

  @Override
  public void close() {
    session.close();
  }

  @Override
  public void close(CloseMode mode) {
    session.close(mode);
  }

  @Override
  public Status getStatus() {
    return session.getStatus();
  }

  @Override
  public Timeout getSocketTimeout() {
    return session.getSocketTimeout();
  }

  @Override
  public void setSocketTimeout(Timeout timeout) {
    session.setSocketTimeout(timeout);
  }

  @Override
  public long getLastReadTime() {
    return session.getLastReadTime();
  }

  @Override
  public long getLastWriteTime() {
    return session.getLastWriteTime();
  }

  @Override
  public long getLastEventTime() {
    return session.getLastEventTime();
  }

  /** Resets the count of bytes of the input event. The reactor calls this method when an event begins. */
  @Override
  public void updateReadTime() {
    eventBytes = 0;
    session.updateReadTime();
  }

  @Override
  public void updateWriteTime() {
    session.updateWriteTime();
  }

  @Override
  public String getId() {
    return session.getId();
  }

  @Override
  public String toString() {
    return session.toString();
  }
}
