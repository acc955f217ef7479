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
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The environment of scenarios: the plan, the server (a child process on a folder of its own unless one is named), the
 * receiver. All are made when first asked for and closed with it. One thread.
 */
final class Bench implements AutoCloseable {
  private static final int CONNECT_MILLIS = 5_000;
  private static final String READY = "Foliot is ready at ";

  private final Plan plan;
  private final PrintStream progress;
  private final IntPredicate receiverLoses;
  private final Path folder;
  private final List<Target> targets = new ArrayList<>();
  private @Nullable Target shared;
  private @Nullable Receiver receiver;

  /**
   * The options of a run.
   *
   * @param url the server to measure; null for one of our own
   * @param apiKey its key; empty for none
   * @param tasks instead of each scenario's own number; 0 for that
   * @param seconds instead of each scenario's own time; 0 for that
   * @param connections the connections of the load generator, if it has many
   * @param data folder in which our own server's folder is made; null for the system's temporary folder
   * @param out folder for files that are kept
   * @param server the class whose command {@code server} starts our own one
   * @param jvmOptions for our own server
   * @param patience how long to wait for a callback that does not come
   */
  record Plan(@Nullable URI url, String apiKey, int tasks, double seconds, int connections, @Nullable Path data,
      Path out, Class<?> server, List<String> jvmOptions, Duration patience) {
    /** A server under load is late, but not by that much. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    Plan {
      jvmOptions = List.copyOf(jvmOptions);
    }
  }

  Bench(Plan plan, PrintStream progress) {
    this(plan, progress, number -> false);
  }

  /** With a receiver that loses some. */
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
      throw new BenchException("no folder can be made for the store, choose another with --data: " + e.getMessage(), e);
    }
  }

  Plan plan() {
    return plan;
  }

  /** Returns how many tasks: what was asked for, or else this. */
  int tasks(int otherwise) {
    return plan.tasks() > 0 ? plan.tasks() : otherwise;
  }

  /** Returns the duration that was asked for, or else the given one. */
  Duration time(double otherwiseSeconds) {
    double seconds = plan.seconds() > 0 ? plan.seconds() : otherwiseSeconds;
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  Duration patience() {
    return plan.patience();
  }

  /** The folder in which everything is. */
  Path folder() {
    return folder;
  }

  /** A new folder. */
  Path newFolder(String name) {
    try {
      return Files.createTempDirectory(folder, name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the bytes of all files in a folder. */
  static long size(Path folder) {
    try (var files = Files.walk(folder)) {
      return files.mapToLong(file -> file.toFile().isFile() ? file.toFile().length() : 0).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Prints the progress to the stream for people. */
  void progress(String text) {
    progress.println(text);
  }

  /** The server that scenarios share. */
  Target target() {
    if (shared == null) {
      URI url = plan.url();
      shared = url == null ? startServer(newFolder("server"), List.of()) : new Target(url, plan.apiKey(), null);
      targets.add(shared);
    }
    return shared;
  }

  /** Starts a server of our own that the caller closes. */
  Target startServer(Path data, List<String> serverOptions) {
    List<String> arguments = new ArrayList<>(List.of("server", "--port", "0", "--data", data.toString(), "--log-level",
        "warn"));
    arguments.addAll(serverOptions);
    Child child = Child.start(plan.jvmOptions(), plan.server().getName(), arguments, READY);
    return new Target(URI.create(child.readyText()), "", child);
  }

  /** Starts another class in a JVM like the server's; the caller closes it. */
  Child startBeside(Class<?> mainClass, List<String> arguments, String readyPrefix) {
    return Child.start(List.of(), mainClass.getName(), arguments, readyPrefix);
  }

  /** Returns the receiver of callbacks; the server can reach it. */
  Receiver receiver() {
    if (receiver == null) {
      receiver = new Receiver(receiverAddress(), receiverLoses);
    }
    return receiver;
  }

  /** Another receiver, which is another destination; the caller closes it. */
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
  }

  /** Deletes a folder and all that is in it. */
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
