package io.foliot.store.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A call to a Redis server. A call may have to be sent more than once, and each {@link #command} sends it once. A
 * command is created only after the previous command has failed, so two threads never use a call at the same time.
 */
final class Call {
  /** First word of the error by which a cluster refuses a call while the slot moves to another server. */
  private static final String SLOT_IS_MOVING = "TRYAGAIN";
  /** First words of the exception's message if Lettuce has no connection, and so does not send a call. */
  private static final String NOT_CONNECTED = "Currently not connected";
  /** Shortest and longest pause before a call that had no effect is sent again. */
  private static final long PAUSE_MILLIS = 5;
  private static final long PAUSE_MILLIS_MAX = 200;

  private final CommandType type;
  private final byte @Nullable [] key;
  private final CommandArgs<byte[], byte[]> args;
  private final long firstNanos = System.nanoTime();
  private Reply reply = new Reply();
  private long pauseMillis = PAUSE_MILLIS;

  /**
   * Creates a call.
   *
   * @param key the key that routes the call; null if any server may run it
   */
  Call(CommandType type, byte @Nullable [] key, CommandArgs<byte[], byte[]> args) {
    this.type = type;
    this.key = key;
    this.args = args;
  }

  /** Returns a call of a script. The first key routes the call. */
  static Call ofScript(CommandType type, byte[] script, List<byte[]> keys, List<byte[]> arguments) {
    CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(script).add(keys.size());
    args.addKeys(keys);
    arguments.forEach(args::add);
    return new Call(type, keys.getFirst(), args);
  }

  /** An output that remembers whether the latest reply redirects the call to another server. */
  private static final class Reply extends NestedMultiOutput<byte[], byte[]> {
    private boolean isRedirection;

    Reply() {
      super(ByteArrayCodec.INSTANCE);
    }

    @Override
    public void setError(ByteBuffer error) {
      super.setError(error);
      String text = getError();
      isRedirection = text != null && (text.startsWith("MOVED ") || text.startsWith("ASK "));
    }
  }

  byte @Nullable [] key() {
    return key;
  }

  /** Returns a command that sends the call. */
  AsyncCommand<byte[], byte[], List<Object>> command() {
    reply = new Reply();
    return new AsyncCommand<>(new Command<>(type, reply, args));
  }

  /**
   * Returns whether the latest command had no effect and may succeed soon. If a call is redirected to a server without
   * a connection, Lettuce opens a connection, but does not send the call.
   */
  boolean hadNoEffect(Throwable failure) {
    boolean isUnsent = reply.isRedirection && failure instanceof RedisException
        && Link.reason(failure).startsWith(NOT_CONNECTED);
    return isUnsent || isSlotMoving(failure);
  }

  /** Returns whether a cluster has refused a call because it is moving the slot of the call. */
  static boolean isSlotMoving(Throwable failure) {
    return failure instanceof RedisCommandExecutionException && Link.reason(failure).startsWith(SLOT_IS_MOVING);
  }

  boolean isOlderThan(Duration age) {
    return System.nanoTime() - firstNanos >= age.toNanos();
  }

  /** Returns the pause before the call is sent again: 5 ms at first, then twice the previous pause, at most 200 ms. */
  long nextPauseMillis() {
    long next = pauseMillis;
    pauseMillis = Math.min(2 * next, PAUSE_MILLIS_MAX);
    return next;
  }
}
