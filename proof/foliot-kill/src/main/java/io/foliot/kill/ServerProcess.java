package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.backends.Signals;
import io.foliot.cli.FoliotCommand;
import io.foliot.client.FoliotClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The real server in a process of its own. It can be killed, and started again at the same address and store. */
final class ServerProcess implements AutoCloseable {
  /** Margin of a lease over the timeout of its delivery: enough for a busy machine, but short for a test. */
  static final Duration LEASE_MARGIN = Duration.ofSeconds(3);

  private static final Duration READY_BOUND = Duration.ofMinutes(4);
  private static final Duration END_BOUND = Duration.ofSeconds(30);
  private static final Duration ANSWER_BOUND = Duration.ofSeconds(5);
  private static final int LOG_LINES = 30;

  /**
   * Lowest port of a server. All ports of servers are below those that Linux, by default, gives to clients. Otherwise
   * a client that waits for a server to restart might get the port of that server.
   */
  private static final int MIN_PORT = 20_000;

  /** Exclusive bound of the ports of servers. */
  private static final int MAX_PORT = 32_000;

  private final StoreChoice store;
  private final ServerHost place;
  private final Path log;
  private final int port;
  private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .connectTimeout(ANSWER_BOUND).build();
  private final Thread atExit = new Thread(this::end);

  // One thread at a time changes these fields. Any thread reads them.
  private volatile @Nullable Process process;
  private volatile boolean up;

  /**
   * Creates a server, which is not started yet.
   *
   * @param store the store in which the server keeps its tasks
   * @param place the host on which the server runs
   * @param log the file to which the output of the server is appended
   */
  ServerProcess(StoreChoice store, ServerHost place, Path log) {
    this.store = store;
    this.place = place;
    this.log = log;
    port = freePort();
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  private static int freePort() {
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

  URI url() {
    return URI.create("http://" + place.host() + ":" + port);
  }

  FoliotClient.Builder client() {
    FoliotClient.Builder builder = FoliotClient.builder(url());
    return place.apiKey() == null ? builder : builder.apiKey(place.apiKey());
  }

  /** Starts the server without waiting until it is ready. */
  void start() {
    List<String> command = new ArrayList<>(place.launcher());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The flags that are copied from this JVM suppress warnings. The other flags enable assertions, keep the heap
    // small, and shorten the start.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(List.of("-ea", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
        System.getProperty("java.class.path"), FoliotCommand.class.getName(), "server", "--host", place.host(),
        "--port",
        Integer.toString(port), "--stop-grace", "0s", "--engine-lease-margin", LEASE_MARGIN.toMillis() + "ms"));
    command.addAll(store.options());
    if (!store.options().contains("--data")) {
      // A server keeps in its data folder whether it has had keys, so servers of other tests must not share it.
      command.addAll(List.of("--data", log + ".data"));
    }
    command.addAll(place.options());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(store.environment());
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void awaitReady() {
    Await.until("the server is ready", READY_BOUND, () -> {
      if (!isAlive()) {
        throw new AssertionError("the server has ended by itself; the end of " + log + ":\n" + lastLines());
      }
      return isReady();
    });
    up = true;
  }

  private boolean isReady() {
    return readyStatus() == 200;
  }

  /** Returns the HTTP status of the readiness check, or 0 if the server does not answer. */
  int readyStatus() {
    try {
      return http.send(request("/health/ready"), BodyHandlers.discarding()).statusCode();
    } catch (IOException e) {
      return 0;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  String get(String path) {
    try {
      return http.send(request(path), BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private HttpRequest request(String path) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(url().resolve(path)).timeout(ANSWER_BOUND);
    return place.apiKey() == null
        ? builder.build()
        : builder.header("Authorization", "Bearer " + place.apiKey()).build();
  }

  private String lastLines() {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Returns whether the server has been ready, was neither killed nor stopped since, and is not paused. */
  boolean isUp() {
    return up;
  }

  boolean isAlive() {
    Process running = process;
    return running != null && running.isAlive();
  }

  /** Ends the server with SIGKILL, and waits until its process has ended. */
  void kill() {
    up = false;
    end();
  }

  /** Ends the server with SIGTERM, as operators do, and waits until its process has ended. */
  void stop() {
    up = false;
    Process running = Objects.requireNonNull(process);
    running.destroy();
    try {
      if (!running.waitFor(END_BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("the server outlived SIGTERM: pid=" + running.pid());
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Pauses the server: none of its threads runs, but some may still wait for the disk. */
  void freeze() {
    up = false;
    Signals.freeze(Objects.requireNonNull(process).pid());
  }

  /** Resumes the server after {@link #freeze}. */
  void thaw() {
    Signals.thaw(Objects.requireNonNull(process).pid());
    up = true;
  }

  /** Waits until the server is ready or has ended, and returns whether it still runs. */
  boolean becomesReady() {
    Await.until("the server is ready, or has ended", READY_BOUND, () -> !isAlive() || isReady());
    return isAlive();
  }

  private void end() {
    Process running = process;
    if (running == null) {
      return;
    }
    try {
      if (!running.destroyForcibly().waitFor(END_BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("the server outlived SIGKILL: pid=" + running.pid());
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    kill();
    http.close();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
