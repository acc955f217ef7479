package io.foliot.cli;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A server in a separate process, which can be killed. */
final class DemoServer implements AutoCloseable {
  private static final long START_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(1);
  private static final long END_PATIENCE_SECONDS = 5;
  private static final int SHOWN_LOG_LINES = 12;

  private final Path folder;
  private final int port;
  private final Path log;

  // guarded by this
  private @Nullable Process process;
  private boolean closed;

  /**
   * Creates a server without starting it.
   *
   * @param folder the folder for its data and its log
   */
  DemoServer(Path folder, int port) {
    this.folder = folder;
    this.port = port;
    log = folder.resolve("server.log");
  }

  String url() {
    return "http://127.0.0.1:" + port;
  }

  /** Starts the server, and waits until it is ready. */
  void start() {
    Process started = launch();
    long begun = System.nanoTime();
    try (ServerConnection remote = ServerConnection.at(url())) {
      while (!isReady(remote)) {
        if (!started.isAlive() || System.nanoTime() - begun > START_PATIENCE_NANOS) {
          throw CommandException
              .failure("the server did not start; the end of its log:" + System.lineSeparator() + tail());
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
  }

  private synchronized Process launch() {
    if (closed) {
      throw CommandException.failure("the demo is ending");
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(word -> !word.startsWith("-Dfoliot.") && !word.startsWith("-agentlib")).forEach(command::add);
    command.add("-D" + ServerCommand.PARENT + "=" + ProcessHandle.current().pid());
    String classPath = System.getProperty("java.class.path");
    // If this process was started from a jar, the server is started from the same jar, whose manifest enables native
    // access.
    command.addAll(classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator)
        ? List.of("-jar", classPath)
        : List.of("-cp", classPath, FoliotCommand.class.getName()));
    command.addAll(List.of("server", "--port", Integer.toString(port), "--data", folder.resolve("data").toString(),
        "--log-level", "warn", "--stop-grace", "0s",
        // A task that runs when the server is killed runs again when its lease ends. A short margin keeps the lease
        // short.
        "--engine-lease-margin", "1s"));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().keySet().removeIf(name -> name.startsWith("FOLIOT_"));
    try {
      process = builder.start();
      return process;
    } catch (IOException e) {
      throw CommandException.failure("the server could not be started: " + e.getMessage(), e);
    }
  }

  private boolean isReady(ServerConnection remote) {
    try {
      return remote.send(HttpRequest.newBuilder(URI.create(url() + "/health/ready")).GET(), ANSWER_TIMEOUT)
          .statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private String tail() {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join(System.lineSeparator(),
          lines.subList(Math.max(0, lines.size() - SHOWN_LOG_LINES), lines.size()));
    } catch (IOException e) {
      return "(its log cannot be read: " + e.getMessage() + ")";
    }
  }

  /** Kills the server as {@code kill -9} does, and returns its process id; 0 if it was never started. */
  synchronized long kill() {
    Process running = process;
    if (running == null) {
      return 0;
    }
    running.destroyForcibly();
    try {
      running.waitFor(END_PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return running.pid();
  }

  @Override
  public synchronized void close() {
    closed = true;
    long unused = kill();
  }
}
