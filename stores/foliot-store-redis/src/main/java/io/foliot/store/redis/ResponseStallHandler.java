package io.foliot.store.redis;

import io.lettuce.core.protocol.CommandHandler;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A handler that closes a connection if the server does not answer, so that the client connects again. If the server
 * has lost power, no peer closes the connection, and without this handler the kernel would retransmit for a quarter of
 * an hour. When the connection is closed, the waiting calls fail. The oldest of these calls has waited for at least the
 * timeout. Used only by the thread of its channel.
 *
 * <p>Netty's ReadTimeoutHandler was rejected, because it also closes idle connections.
 */
final class ResponseStallHandler extends ChannelDuplexHandler {
  /** Number of checks per timeout. */
  private static final int CHECKS = 4;

  private final long timeoutNanos;
  private boolean unanswered;
  private long unansweredNanos;
  private @Nullable Future<?> checks;

  /**
   * Creates a handler for one connection. The handler closes the connection if calls wait for their answers, and the
   * server sends nothing for {@code timeout}. The handler may notice this late, by up to a quarter of the timeout.
   */
  ResponseStallHandler(Duration timeout) {
    timeoutNanos = timeout.toNanos();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    checks = context.executor().scheduleWithFixedDelay(() -> check(context), timeoutNanos / CHECKS,
        timeoutNanos / CHECKS, TimeUnit.NANOSECONDS);
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
    context.fireChannelRead(message);
    // The client has now removed from its queue the calls that the message answers.
    CommandHandler calls = context.pipeline().get(CommandHandler.class);
    unanswered = calls != null && !calls.getStack().isEmpty();
    unansweredNanos = System.nanoTime();
  }

  private void check(ChannelHandlerContext context) {
    if (unanswered && System.nanoTime() - unansweredNanos >= timeoutNanos) {
      unanswered = false;
      var closed = context.close();
      assert closed != null;
    }
  }
}
