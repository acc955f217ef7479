package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A server in a child process. A test can exhaust the server's memory, limits or threads without harm to the process of
 * the test.
 */
final class ChildServer implements AutoCloseable {
  static final Duration BOUND = Duration.ofSeconds(90);
  private static final String READY = "Foliot is ready at ";

  private final Process process;
  private final Path log;
  private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * The command line of a child process.
   *
   * @param shell commands of the shell before the JVM starts, with a separator at the end; empty for none
   * @param jvm options of the JVM
   * @param main the main class
   * @param arguments the arguments of the main class
   */
  record Spec(String shell, List<String> jvm, Class<?> main, List<String> arguments) {
    /** Returns the command line of {@code foliot server} on a free port. */
    static Spec server(List<String> jvm, String... options) {
      List<String> arguments = new ArrayList<>(List.of("server", "--port", "0"));
      arguments.addAll(List.of(options));
      return new Spec("", jvm, io.foliot.cli.FoliotCommand.class, arguments);
    }

    /** Returns a copy of this command line in which the shell runs commands before it starts the JVM. */
    Spec after(String commands) {
      return new Spec(commands + "; ", jvm, main, arguments);
    }
  }

  /** Starts the process, and does not wait until the server is ready. */
  ChildServer(Spec spec, Path folder) {
    List<String> command = new ArrayList<>(List.of("sh", "-c", spec.shell + "exec \"$@\"", "sh",
        Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfoliot.parent="
        + ProcessHandle.current().pid()));
    command.addAll(spec.jvm);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), spec.main.getName()));
    command.addAll(spec.arguments);
    log = folder.resolve("child.log");
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a server, and waits for at most {@link #BOUND} until it is ready. */
  static ChildServer ready(Spec spec, Path folder) {
    ChildServer child = new ChildServer(spec, folder);
    child.await("the child is ready", () -> {
      if (!child.process.isAlive()) {
        throw new AssertionError("the child has ended:\n" + child.output());
      }
      return child.output().contains(READY);
    });
    return child;
  }

  String output() {
    try {
      return Files.readString(log, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  URI url() {
    String output = output();
    int from = output.indexOf(READY) + READY.length();
    return URI.create(output.substring(from, output.indexOf('\n', from)).strip());
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for at most {@link #BOUND} until the process ends, and returns its exit code. */
  int exitCode() {
    try {
      if (!process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("the child did not end:\n" + output());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  HttpResponse<String> send(String method, String path, @Nullable String json) throws IOException {
    HttpRequest.Builder request = HttpRequest.newBuilder(url().resolve(path)).timeout(Duration.ofSeconds(30))
        .header("Content-Type", "application/json")
        .method(method, json == null ? BodyPublishers.noBody() : BodyPublishers.ofString(json));
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("condition not met in time: " + what + "\n" + output());
      }
      try {
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    exitCode();
    http.close();
  }
}
