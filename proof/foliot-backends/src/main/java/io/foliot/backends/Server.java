package io.foliot.backends;

/**
 * A real server in a process of its own, on a fixed port of the loopback address. The server is ready when this object
 * has been created. {@link #close} kills the server and removes its files; so does the end of this JVM.
 *
 * <p>One thread at a time may start, stop, kill, pause, resume or close the server. Any thread may call the other
 * methods.
 */
public sealed interface Server extends AutoCloseable permits PostgresServer, MariaDbServer, RedisServer {
  /** Returns the server's port of the loopback address, which never changes. */
  int port();

  /** Returns true if the server's process is running or paused. */
  boolean isAlive();

  /** Kills all processes of the server (SIGKILL), and waits until they are gone. The files stay. */
  void kill();

  /** Shuts the server down as an operator would, and waits until its processes are gone. */
  void stop();

  /** Starts the server again on the same files, and waits until it is ready. Kills it first if it is running. */
  void restart();

  /** Pauses the server (SIGSTOP): its connections stay open, but it does not respond. */
  void pause();

  /** Resumes the server after {@link #pause}. */
  void resume();

  @Override
  void close();
}
