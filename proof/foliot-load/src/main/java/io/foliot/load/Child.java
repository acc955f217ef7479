package io.foliot.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A child JVM for one side of a measurement, with the class path of this JVM. It shares no heap, garbage collector or
 * JIT compiler with the load generator. A shutdown hook ends the child when this process ends.
 */
final class Child implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final long STOP_SECONDS = 30;
  /** Number of lines of output that are kept for error messages. */
  private static final int KEPT_LINES = 20;
  /** First Java version with the option {@code --sun-misc-unsafe-memory-access}. */
  private static final int UNSAFE_OPTION_VERSION = 23;

  private final Process process;
  private final Thread hook;
  private final CompletableFuture<String> ready = new CompletableFuture<>();
  private final String readyPrefix;
  private final long begunNanos;
  private volatile long readyNanos;

  // guarded by itself
  private final Deque<String> lastLines = new ArrayDeque<>();

  private Child(Process process, String readyPrefix, long begunNanos) {
    this.process = process;
    this.readyPrefix = readyPrefix;
    this.begunNanos = begunNanos;
    hook = new Thread(process::destroyForcibly);
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The user has interrupted the benchmark while it started this process.
      process.destroyForcibly();
      throw new BenchException("the benchmark was interrupted", e);
    }
    Thread.ofPlatform().daemon().name("bench-child-output").start(this::read);
  }

  /**
   * Starts a main class and waits until it prints that it is ready, for at most {@link #START_SECONDS}.
   *
   * @param readyPrefix the beginning of the line that reports readiness
   * @throws BenchException if the process is not ready in this time
   */
  static Child start(List<String> jvmOptions, String mainClass, List<String> arguments, String readyPrefix) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    command.addAll(arguments);
    long begunNanos = System.nanoTime();
    Child child;
    try {
      child = new Child(new ProcessBuilder(command).redirectErrorStream(true).start(), readyPrefix, begunNanos);
    } catch (IOException e) {
      throw new BenchException("cannot start a JVM: " + e.getMessage(), e);
    }
    child.awaitReady();
    return child;
  }

  /**
   * Returns the JVM options of each child: the heap size that the foliot script gives a server, and options that
   * suppress warnings.
   */
  private static List<String> jvmOptions() {
    List<String> options = new ArrayList<>(List.of("-Xmx1g", "--enable-native-access=ALL-UNNAMED"));
    int version = Runtime.version().feature();
    if (version >= UNSAFE_OPTION_VERSION) {
      options.add("--sun-misc-unsafe-memory-access=allow");
    }
    return options;
  }

  private void read() {
    try (BufferedReader out = process.inputReader(UTF_8)) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith(readyPrefix) && !ready.isDone()) {
          readyNanos = System.nanoTime();
          ready.complete(line.substring(readyPrefix.length()).strip());
        }
        synchronized (lastLines) {
          lastLines.add(line);
          if (lastLines.size() > KEPT_LINES) {
            lastLines.remove();
          }
        }
      }
    } catch (IOException e) {
      // The process was killed.
    }
    ready.completeExceptionally(new IOException("the process ended"));
  }

  private void awaitReady() {
    try {
      ready.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      kill();
      throw new BenchException("a child process ended or was not ready within " + START_SECONDS
          + " s; its last lines:\n" + lastLines(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      kill();
      throw new BenchException("interrupted", e);
    }
  }

  /** Returns the last lines that the process has printed, {@link #KEPT_LINES} at most. */
  String lastLines() {
    synchronized (lastLines) {
      return String.join("\n", lastLines);
    }
  }

  /** Returns the text after the prefix in the line that reported readiness. */
  String readyText() {
    return ready.join();
  }

  /** Returns the time from the start of the process until it was ready, in nanoseconds. */
  long startNanos() {
    return readyNanos - begunNanos;
  }

  /** Returns when the process was ready, by {@link System#nanoTime}. */
  long readyNanos() {
    return readyNanos;
  }

  long pid() {
    return process.pid();
  }

  long processorNanos() {
    return Machine.processorNanos(pid());
  }

  /** Writes a line to the standard input of the process. */
  void writeLine(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills the process without an orderly shutdown, and waits for its end. */
  void kill() {
    process.destroyForcibly();
    await();
  }

  /** Requests an orderly shutdown of the process. Kills the process if it still runs {@link #STOP_SECONDS} later. */
  @Override
  public void close() {
    process.destroy();
    await();
  }

  private void await() {
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      Bench.removeHook(hook);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
