package io.foliot.load;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The environment of scenarios: the plan, the server and the receiver of callbacks. The server is a child process with
 * a folder of its own, unless the plan names a running server. Server and receiver are created at their first use, and
 * closed with this object. Used by one thread.
 */
final class Bench implements AutoCloseable {
  private static final int CONNECT_MILLIS = 5_000;
  /** Number of tries to delete the folder of an interrupted benchmark, and the pause between them. */
  private static final int DELETIONS = 100;
  private static final long DELETION_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final String READY = "Foliot is ready at ";

  private final Plan plan;
  private final PrintStream progress;
  private final IntPredicate receiverLoses;
  private final Path folder;
  private final Thread hook = new Thread(this::deleteAfterChildren, "foliot-bench-end");
  private final List<Target> targets = new ArrayList<>();
  private @Nullable Target shared;
  private @Nullable Receiver receiver;

  /**
   * The options of a run.
   *
   * @param url the server to measure; null to start one
   * @param apiKey the API key of the server at {@code url}; empty for none
   * @param tasks the number of tasks; 0 for the default of each scenario
   * @param seconds the duration of a measurement, in seconds; 0 for the default of each scenario
   * @param connections the connections of the load generator in scenarios that use many
   * @param data folder in which the folder of a started server is created; null for the system's temporary folder
   * @param out folder for the files that scenarios write
   * @param server the class whose command {@code server} starts a server
   * @param jvmOptions JVM options of a started server
   * @param patience how long to wait for the next callback before it is reported as missing
   */
  record Plan(@Nullable URI url, String apiKey, int tasks, double seconds, int connections, @Nullable Path data,
      Path out, Class<?> server, List<String> jvmOptions, Duration patience) {
    /** Longest wait for the next callback: far longer than the lateness of a server under load. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    Plan {
      jvmOptions = List.copyOf(jvmOptions);
    }
  }

  Bench(Plan plan, PrintStream progress) {
    this(plan, progress, number -> false);
  }

  /**
   * Creates an environment.
   *
   * @param receiverLoses returns, for the number of a task, whether the receiver ignores the callbacks of the task
   */
  Bench(Plan plan, PrintStream progress, IntPredicate receiverLoses) {
    this.plan = plan;
    this.progress = progress;
    this.receiverLoses = receiverLoses;
    try {
      Path parent = plan.data();
      if (parent == null) {
        folder = Files.createTempDirectory("foliot-bench");
      } else {
        Files.createDirectories(parent);
        folder = Files.createTempDirectory(parent, "foliot-bench");
      }
    } catch (IOException e) {
      throw new BenchException("cannot create a folder for the store; try another --data: " + e.getMessage(), e);
    }
    Runtime.getRuntime().addShutdownHook(hook);
  }

  Plan plan() {
    return plan;
  }

  /** Returns the number of tasks in the plan, or else the default. */
  int tasks(int defaultTasks) {
    return plan.tasks() > 0 ? plan.tasks() : defaultTasks;
  }

  /** Returns the duration in the plan, or else the default. */
  Duration time(double defaultSeconds) {
    double seconds = plan.seconds() > 0 ? plan.seconds() : defaultSeconds;
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  Duration patience() {
    return plan.patience();
  }

  /** Returns the folder that contains all other folders of this bench. {@link #close} deletes it. */
  Path folder() {
    return folder;
  }

  /** Creates a folder whose name begins with a text. */
  Path newFolder(String name) {
    try {
      return Files.createTempDirectory(folder, name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the total size of all files in a folder, in bytes. */
  static long size(Path folder) {
    try (var files = Files.walk(folder)) {
      return files.mapToLong(file -> file.toFile().isFile() ? file.toFile().length() : 0).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void progress(String text) {
    progress.println(text);
  }

  /** Returns the server that scenarios share. The first call starts it, unless the plan names a running server. */
  Target target() {
    if (shared == null) {
      URI url = plan.url();
      shared = url == null ? startServer(newFolder("server"), List.of()) : new Target(url, plan.apiKey(), null);
      targets.add(shared);
    }
    return shared;
  }

  /** Starts a server in a child process. The caller closes it. */
  Target startServer(Path data, List<String> serverOptions) {
    List<String> arguments = new ArrayList<>(List.of("server", "--port", "0", "--data", data.toString(), "--log-level",
        "warn"));
    arguments.addAll(serverOptions);
    Child child = Child.start(plan.jvmOptions(), plan.server().getName(), arguments, READY);
    return new Target(URI.create(child.readyText()), "", child);
  }

  /** Starts a main class in a child process, without the JVM options of the plan. The caller closes it. */
  Child startBeside(Class<?> mainClass, List<String> arguments, String readyPrefix) {
    return Child.start(List.of(), mainClass.getName(), arguments, readyPrefix);
  }

  /** Returns the receiver of callbacks, at an address that the server can reach. */
  Receiver receiver() {
    if (receiver == null) {
      receiver = new Receiver(receiverAddress(), receiverLoses);
    }
    return receiver;
  }

  /** Creates a receiver in addition to the shared one, as a destination of its own. The caller closes the receiver. */
  Receiver newReceiver() {
    return new Receiver(receiverAddress(), receiverLoses);
  }

  private InetAddress receiverAddress() {
    if (plan.url() == null) {
      return InetAddress.getLoopbackAddress();
    }
    InetSocketAddress server = target().address();
    try (Socket socket = new Socket()) {
      socket.connect(server, CONNECT_MILLIS);
      return socket.getLocalAddress();
    } catch (IOException e) {
      throw new BenchException("nothing answers at " + server + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    for (Target target : targets) {
      target.close();
    }
    if (receiver != null) {
      receiver.close();
    }
    delete(folder);
    removeHook(hook);
  }

  /** Removes a shutdown hook, unless the process ends and runs the hook. */
  static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The hook runs.
    }
  }

  /** Deletes the folder when the user interrupts the benchmark. A child that is being killed may still write to it. */
  private void deleteAfterChildren() {
    for (int i = 0; i < DELETIONS && Files.exists(folder); i++) {
      try {
        delete(folder);
      } catch (UncheckedIOException e) {
        LockSupport.parkNanos(DELETION_PAUSE_NANOS);
      }
    }
  }

  static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
