package io.foliot.engine;

import io.foliot.core.EventLoop;
import java.util.concurrent.CompletionStage;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one event loop. Any thread adds a message; the loop's thread handles them in the order of arrival.
 *
 * <p>Guarantees: a message is handled once, on the loop's thread, with the monotonic time of its handling. The loop is
 * woken after each message. An exception that one message throws does not affect the other messages.
 *
 * <ol>
 * <li>{@link #post} adds a message and wakes the loop.
 * <li>{@link #after} posts the answer of an asynchronous call when its stage completes, on any thread. If the stage is
 * complete already, its answer is a message too, so that no handler runs inside the method that made the call.
 * <li>The loop calls {@link #poll} up to a limit in each turn.
 * </ol>
 *
 * <p>Rejected: running handlers on the thread that completes a stage. Every part would need a lock, and the simulator
 * could not decide the order.
 */
final class Inbox {
  private static final int CHUNK = 1_024;

  /** A message to the loop. */
  interface Message {
    /** Handles the message on the loop's thread. */
    void handle(long nowNanos);
  }

  /** The handler of an answer. */
  interface Handler<T> {
    /** Handles a result, or the failure of a call, on the loop's thread. */
    void answered(@Nullable T result, @Nullable Throwable failure, long nowNanos);
  }

  private final EventLoop eventLoop;
  private final MpscUnboundedVarHandleArrayQueue<Message> messages = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);

  Inbox(EventLoop eventLoop) {
    this.eventLoop = eventLoop;
  }

  // any thread

  void post(Message message) {
    messages.offer(message);
    eventLoop.wake();
  }

  void wake() {
    eventLoop.wake();
  }

  /** Posts the answer of a stage when the stage completes. */
  <T> void after(CompletionStage<T> stage, Handler<T> handler) {
    stage.whenComplete(
        (result, failure) -> post(nowNanos -> handler.answered(result, failure, nowNanos)));
  }

  // the loop's thread

  boolean isEmpty() {
    return messages.isEmpty();
  }

  /** Returns the next message, or null if there is none. */
  @Nullable
  Message poll() {
    return messages.poll();
  }
}
