package io.foliot.delivery.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hc.client5.http.async.AsyncExecRuntime;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.nio.AsyncResponseConsumer;
import org.apache.hc.core5.http.nio.CapacityChannel;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.jspecify.annotations.Nullable;

/** Reads the head and body of an answer, up to a limit. Keeps the beginning of the body if the status is a failure. */
final class ReplyReader implements AsyncResponseConsumer<Reply> {
  /**
   * Maximum number of bytes of a body. A body is read to its end so that the connection can be reused. Reading a longer
   * body costs more than opening a new connection.
   */
  static final int MAX_BODY_BYTES = 64 << 10;
  /** Maximum number of bytes of a failure's body that are kept: enough for the text of a detail, in any alphabet. */
  private static final int KEPT_BYTES = 1 << 10;
  /** Maximum number of informational responses (1xx) before an answer. One or two proxies may send a few each. */
  static final int MAX_INFORMATIONAL = 20;
  private static final byte[] EMPTY = new byte[0];

  private final Consumer<Reply> onComplete;

  // I/O thread only
  private @Nullable FutureCallback<Reply> result;
  private @Nullable Reply complete;
  private int informational;
  private int read;
  private int keptBytes;
  private byte[] kept = EMPTY;

  // any thread
  private volatile @Nullable AsyncExecRuntime runtime;
  private volatile boolean aborted;
  private volatile boolean sent;
  private volatile @Nullable Reply head;

  /**
   * Creates a reader. The consumer gets the whole answer only once the connection is back in the pool, so that a
   * request that it sends can use the connection.
   */
  ReplyReader(Consumer<Reply> onComplete) {
    this.onComplete = onComplete;
  }

  /** Sets the holder of the connection. Returns false if the exchange has ended, in which case nothing may be sent. */
  boolean readFrom(AsyncExecRuntime newRuntime) {
    runtime = newRuntime;
    return !aborted;
  }

  /** Records that the head of the request was passed to the connection. */
  void sent() {
    sent = true;
  }

  /** Returns whether the receiver may have received any part of the request. Any thread may call this method. */
  boolean wasSent() {
    return sent;
  }

  /** Closes the connection, unless it is back in the pool. Any thread may call this method. */
  void abort() {
    aborted = true;
    AsyncExecRuntime current = runtime;
    if (current != null) {
      current.discardEndpoint();
    }
  }

  /**
   * Returns the answer without its body, or null if its head has not been read yet. Any thread may call this method.
   */
  @Nullable
  Reply soFar() {
    return head;
  }

  @Override
  public void consumeResponse(HttpResponse response, @Nullable EntityDetails entity, HttpContext context,
      FutureCallback<Reply> callback) {
    Reply reply = new Reply(response.getCode(), header(response, "foliot-next"), header(response, "foliot-ack"),
        header(response, "retry-after"), header(response, "content-type"),
        header(response, "content-encoding"), EMPTY);
    head = reply;
    if (entity == null) {
      complete = reply;
      callback.completed(reply);
      return;
    }
    result = callback;
    if (reply.status() >= 400) {
      kept = new byte[KEPT_BYTES];
    }
  }

  private static @Nullable String header(HttpResponse response, String name) {
    Header header = response.getFirstHeader(name);
    return header == null ? null : header.getValue();
  }

  @Override
  public void informationResponse(HttpResponse response, HttpContext context) throws IOException {
    informational++;
    if (informational > MAX_INFORMATIONAL) {
      throw new EndlessAnswerException(
          "more informational responses before an answer than the limit: limit=" + MAX_INFORMATIONAL);
    }
  }

  @Override
  public void updateCapacity(CapacityChannel channel) throws IOException {
    channel.update(MAX_BODY_BYTES);
  }

  @Override
  public void consume(ByteBuffer bytes) throws IOException {
    read += bytes.remaining();
    int keep = Math.min(bytes.remaining(), kept.length - keptBytes);
    bytes.get(kept, keptBytes, keep);
    keptBytes += keep;
    bytes.position(bytes.limit());
    if (read > MAX_BODY_BYTES) {
      throw new IOException("the body of the answer is longer than the limit: limitBytes=" + MAX_BODY_BYTES);
    }
  }

  @Override
  public void streamEnd(@Nullable List<? extends Header> trailers) {
    FutureCallback<Reply> callback = result;
    Reply reply = head;
    if (callback != null && reply != null) {
      Reply whole = withBody(reply);
      complete = whole;
      callback.completed(whole);
    }
  }

  private Reply withBody(Reply reply) {
    return keptBytes == 0
        ? reply
        : new Reply(reply.status(), reply.next(), reply.ack(), reply.retryAfter(), reply.contentType(),
            reply.contentEncoding(),
            Arrays.copyOf(kept, keptBytes));
  }

  @Override
  public void failed(Exception cause) {
    // The client reports the failure to the exchange.
  }

  @Override
  public void releaseResources() {
    result = null;
    Reply whole = complete;
    if (whole != null) {
      complete = null;
      onComplete.accept(whole);
    }
  }
}
