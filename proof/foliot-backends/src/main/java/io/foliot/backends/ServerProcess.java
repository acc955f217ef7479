package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The process of a server, which can be restarted any number of times with the same command.
 *
 * <p>The process does not outlive this JVM. A shutdown hook kills the process when the JVM shuts down. If the JVM
 * itself is killed, a guard kills the process. The guard is a shell that reads from this JVM through a pipe, and kills
 * the process when the pipe closes without a line. The hook and the guard also remove the folder.
 */
final class ServerProcess implements AutoCloseable {
  private static final Duration READY_BOUND = Duration.ofSeconds(60);
  private static final Duration END_BOUND = Duration.ofSeconds(30);

  /**
   * Lowest port of a server. Servers get ports below those that the kernel assigns to clients. Otherwise a client of
   * this JVM that waits for a server might be assigned the port of that server.
   */
  private static final int MIN_PORT = 20_000;
  /** Upper bound of the ports of servers, exclusive. */
  private static final int MAX_PORT = 32_000;

  /**
   * The script of the guard. The arguments are the server's process and folder. A line from the JVM ends the guard. If
   * the pipe ends without a line, the JVM is gone.
   */
  private static final String GUARD = "read -r word || { kill -KILL \"$0\"; sleep 1; rm -rf \"$1\"; }";

  private final String name;
  private final List<String> command;
  private final Path folder;
  private final Path log;
  private final Thread atExit = new Thread(this::killAndForget);

  // written by the thread that starts and ends the process, read by any thread
  private volatile @Nullable Process process;
  private volatile @Nullable Process guard;

  /** A check that throws if a server is not ready. */
  interface Probe {
    void check() throws IOException, SQLException;
  }

  /** Creates a server that is not yet started. It will run in the folder, and append its output to a log there. */
  ServerProcess(String name, List<String> command, Path folder) {
    this.name = name;
    this.command = List.copyOf(command);
    this.folder = folder;
    log = folder.resolve("server.log");
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Returns a port of the loopback address on which no process listens. */
  static int freePort() {
    SplittableRandom random = new SplittableRandom();
    while (true) {
      int port = random.nextInt(MIN_PORT, MAX_PORT);
      try (ServerSocket socket = new ServerSocket()) {
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return port;
      } catch (IOException e) {
        // The port is taken.
      }
    }
  }

  /** Starts the process, and waits until the server is ready. */
  void start(Probe probe) {
    if (isAlive()) {
      throw new IllegalStateException("the server is running already: server=" + name);
    }
    try {
      Process started = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
          .redirectInput(Redirect.from(Path.of("/dev/null").toFile())).redirectOutput(Redirect.appendTo(log.toFile()))
          .start();
      process = started;
      guard = new ProcessBuilder("sh", "-c", GUARD, Long.toString(started.pid()), folder.toString())
          .redirectOutput(Redirect.DISCARD).redirectError(Redirect.DISCARD).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    AtomicReference<@Nullable Exception> refusal = new AtomicReference<>();
    try {
      Await.until(name + " is ready", READY_BOUND, () -> {
        Process started = process;
        if (started == null || !started.isAlive()) {
          throw new IllegalStateException("the server ended by itself: server=" + name + ", exit="
              + (started == null ? "none" : started.exitValue()));
        }
        return isReady(probe, refusal);
      });
    } catch (IllegalStateException e) {
      kill();
      Exception last = refusal.get();
      if (last != null) {
        e.addSuppressed(last);
      }
      throw new IllegalStateException(e.getMessage() + "; the last failed probe: " + last
          + "; the end of the server's log:\n" + Command.tail(log), e);
    }
  }

  private static boolean isReady(Probe probe, AtomicReference<@Nullable Exception> refusal) {
    try {
      probe.check();
      return true;
    } catch (IOException | SQLException | IllegalStateException e) {
      refusal.set(e);
      return false;
    }
  }

  boolean isAlive() {
    Process running = process;
    return running != null && running.isAlive();
  }

  /** Kills the process and all its descendants (SIGKILL), and waits until they are gone. */
  void kill() {
    Process running = process;
    if (running == null) {
      return;
    }
    // The process is paused first, so that it cannot start another process that the kill would miss.
    signal("STOP", List.of(running.toHandle()));
    List<ProcessHandle> all = family(running);
    all.forEach(ProcessHandle::destroyForcibly);
    Await.until(name + " is gone", END_BOUND, () -> all.stream().allMatch(ServerProcess::isGone));
    ended(running);
  }

  /** Sends the process a signal on which it shuts down, and waits until it and all its descendants are gone. */
  void stop(String signal) {
    Process running = process;
    if (running == null) {
      return;
    }
    List<ProcessHandle> all = family(running);
    signal("CONT", all);
    signal(signal, List.of(running.toHandle()));
    Await.until(name + " is gone", END_BOUND, () -> all.stream().allMatch(ServerProcess::isGone));
    ended(running);
  }

  /** Pauses the process and all its descendants: connections stay open, and the server does not answer. */
  void pause() {
    Process running = process;
    if (running != null) {
      signal("STOP", List.of(running.toHandle()));
      signal("STOP", family(running));
    }
  }

  /** Resumes the process and all its descendants after {@link #pause}. */
  void resume() {
    Process running = process;
    if (running != null) {
      signal("CONT", family(running));
    }
  }

  private static List<ProcessHandle> family(Process running) {
    return Stream.concat(Stream.of(running.toHandle()), running.descendants()).toList();
  }

  private static void signal(String signal, List<ProcessHandle> handles) {
    List<ProcessHandle> alive = handles.stream().filter(handle -> !isGone(handle)).toList();
    if (alive.isEmpty()) {
      return;
    }
    String pids = alive.stream().map(handle -> Long.toString(handle.pid())).collect(Collectors.joining(" "));
    try {
      Command.attempt("sh", "-c", "kill -" + signal + " " + pids);
    } catch (IOException e) {
      // A signal to a process that has just ended fails. That is no error.
      if (alive.stream().noneMatch(ServerProcess::isGone)) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * Returns whether a process has ended. A zombie is treated as ended, because an orphan stays a zombie if no init
   * process reaps it.
   */
  private static boolean isGone(ProcessHandle handle) {
    if (!handle.isAlive()) {
      return true;
    }
    Path stat = Path.of("/proc", Long.toString(handle.pid()), "stat");
    try {
      if (!Files.exists(stat)) {
        return !handle.isAlive();
      }
      String text = Files.readString(stat);
      return text.charAt(text.lastIndexOf(')') + 2) == 'Z';
    } catch (IOException e) {
      // The process has ended during the check.
      return !handle.isAlive();
    }
  }

  private void ended(Process running) {
    Process guarding = guard;
    try {
      if (guarding != null && guarding.isAlive()) {
        guarding.getOutputStream().write('\n');
        guarding.getOutputStream().close();
        if (!guarding.waitFor(END_BOUND.toSeconds(), TimeUnit.SECONDS)) {
          throw new IllegalStateException("a guard did not end in time: server=" + name + ", pid=" + guarding.pid());
        }
      }
      if (!running.waitFor(END_BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("a server did not end in time: server=" + name + ", pid=" + running.pid());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a server ended: server=" + name, e);
    }
    guard = null;
    process = null;
  }

  private void killAndForget() {
    kill();
    Folder.remove(folder);
  }

  /** Kills the process, and removes its folder. */
  @Override
  public void close() {
    killAndForget();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
