package io.foliot.backends;

/**
 * A real server in a process of its own, at one port of the loopback address for its whole life. It is up when it is
 * made. {@link #close} kills it and removes its files; any end of this JVM kills it too.
 *
 * <p>One thread at a time may change it; any may ask.
 */
public sealed interface Server extends AutoCloseable permits PostgresServer, MariaDbServer, RedisServer {
  /** Its port of the loopback address, which stays the same. */
  int port();

  /** Returns whether its process lives, paused or not. */
  boolean isAlive();

  /** Ends it and all its processes with SIGKILL at this moment, and waits until they are gone. Its files stay. */
  void kill();

  /** Ends it as an operator would, and waits. */
  void stop();

  /** Starts it again over the same files, killing it first if it is up, and waits until it is ready. */
  void restart();

  /** Pauses it (SIGSTOP): its connections stay open, and it does not answer. */
  void pause();

  /** Resumes it after {@link #pause}. */
  void resume();

  @Override
  void close();
}
