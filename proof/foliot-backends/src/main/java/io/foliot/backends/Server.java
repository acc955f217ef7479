package io.foliot.backends;

/**
 * A real server in a process of its own, at one port of the loopback address for its whole life. It is ready when it is
 * created. {@link #close} kills it and removes its files; any end of this JVM kills it too.
 *
 * <p>One thread at a time may start, stop, kill, pause or resume it. Any thread may call the other methods.
 */
public sealed interface Server extends AutoCloseable permits PostgresServer, MariaDbServer, RedisServer {
  /** Returns its port of the loopback address, which stays the same. */
  int port();

  /** Returns whether its process lives, paused or not. */
  boolean isAlive();

  /** Kills it and all its processes (SIGKILL), and waits until they are gone. Its files stay. */
  void kill();

  /** Shuts it down in order, as an operator would, and waits until it is gone. */
  void stop();

  /** Starts it again on the same files, and waits until it is ready. Kills it first if it is running. */
  void restart();

  /** Pauses it (SIGSTOP): its connections stay open, and it does not answer. */
  void pause();

  /** Resumes it after {@link #pause}. */
  void resume();

  @Override
  void close();
}
