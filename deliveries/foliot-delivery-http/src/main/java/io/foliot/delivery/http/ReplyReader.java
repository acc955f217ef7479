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

/** A reader of an answer: its head, the beginning of its body if it is a failure, and the rest up to a limit. */
final class ReplyReader implements AsyncResponseConsumer<Reply> {
  /** Most bytes of a body that are read, so that the connection can be kept: reading more costs more than a new one. */
  static final int MAX_BODY_BYTES = 64 << 10;
  /** Bytes of a body that are kept: enough for the text of a detail, in any script. */
  private static final int KEPT_BYTES = 1 << 10;
  /** Most informational responses before the answer: a proxy or two may send some each; more have no use. */
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

  // written by the sending thread or the I/O thread, read by any
  private volatile @Nullable AsyncExecRuntime runtime;
  private volatile boolean aborted;
  private volatile boolean sent;
  private volatile @Nullable Reply head;

  /**
   * Creates a reader. The consumer gets the whole answer when its connection is back in the pool, so that the next
   * request can use the connection.
   */
  ReplyReader(Consumer<Reply> onComplete) {
    this.onComplete = onComplete;
  }

  /** Sets the holder of the connection. Returns false if the exchange has ended meanwhile: nothing may be sent then. */
  boolean readFrom(AsyncExecRuntime newRuntime) {
    runtime = newRuntime;
    return !aborted;
  }

  /** Notes that the head of the request was passed to the connection. */
  void sent() {
    sent = true;
  }

  /** Returns whether the receiver may have received any part of the request. Any thread. */
  boolean wasSent() {
    return sent;
  }

  /** Closes the connection, unless it is back in the pool. Any thread. */
  void abort() {
    aborted = true;
    AsyncExecRuntime current = runtime;
    if (current != null) {
      current.discardEndpoint();
    }
  }

  /** Returns the answer without its body, or null until its head was read. Any thread. */
  @Nullable
  Reply soFar() {
    return head;
  }

  @Override
  public void consumeResponse(HttpResponse response, @Nullable EntityDetails entity, HttpContext context,
      FutureCallback<Reply> callback) {
    Reply reply = new Reply(response.getCode(), header(response, "foliot-next"), header(response, "foliot-ack"),
        header(response, "retry-after"), header(response, "content-type"), EMPTY);
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
          "more informational responses before an answer than the limit: count=" + MAX_INFORMATIONAL);
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
      throw new IOException("the body of the answer is longer than the limit: bytes=" + MAX_BODY_BYTES);
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
