package io.foliot.store.redis;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A handler that closes a connection whose server does not answer, so that the client connects again. A server that has
 * lost its power, or whose address now belongs to another machine, does not report that, and the kernel retransmits for
 * a quarter of an hour. Closing loses nothing: calls on the connection have waited for their time limit. (Netty's
 * ReadTimeoutHandler would close idle connections, too.) Used by the thread of its channel only.
 */
final class ResponseStallHandler extends ChannelDuplexHandler {
  /** Number of checks within the time for which a connection may be silent. */
  private static final int CHECKS = 4;

  private final long nanos;
  private boolean unanswered;
  private long unansweredNanos;
  private @Nullable Future<?> checks;

  /** Creates a handler for one connection, which is closed if it is silent for this long after a call was sent. */
  ResponseStallHandler(Duration timeout) {
    nanos = timeout.toNanos();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    checks = context.executor().scheduleWithFixedDelay(() -> check(context), nanos / CHECKS, nanos / CHECKS,
        TimeUnit.NANOSECONDS);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (checks != null) {
      boolean cancelled = checks.cancel(false);
      assert cancelled || checks.isDone();
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (!unanswered) {
      unanswered = true;
      unansweredNanos = System.nanoTime();
    }
    var written = context.write(message, promise);
    assert written != null;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    unanswered = false;
    context.fireChannelRead(message);
  }

  private void check(ChannelHandlerContext context) {
    if (unanswered && System.nanoTime() - unansweredNanos >= nanos) {
      unanswered = false;
      var closed = context.close();
      assert closed != null;
    }
  }
}
