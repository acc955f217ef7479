package io.foliot.kill;

import io.foliot.backends.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A worker of jobs in a process of its own. The process can be killed, and started again with a new name and a new log.
 * One thread at a time may change this object; any thread may read it.
 */
final class WorkerProcess implements AutoCloseable {
  /** Lease of a shard. After the death of its worker, a shard waits until this lease ends. */
  static final Duration LEASE = Duration.ofSeconds(4);

  private static final Duration END_BOUND = Duration.ofMinutes(2);

  /**
   * The settings of a worker.
   *
   * @param server the URL of the server that the worker calls
   * @param zone the zone of the worker
   * @param launcher the beginning of a command that runs in that zone
   * @param apiKey the key for the server, or null if the server needs none
   * @param queue the queue of the worker's jobs
   * @param jobs the names of the worker's jobs
   */
  record Place(URI server, String zone, List<String> launcher, @Nullable String apiKey, String queue,
      List<String> jobs) {
    Place {
      launcher = List.copyOf(launcher);
      jobs = List.copyOf(jobs);
    }
  }

  private final String base;
  private final Place place;
  private final Path folder;
  private final Thread atExit = new Thread(this::end);
  private final Set<String> killed = ConcurrentHashMap.newKeySet();
  private final List<String> names = new CopyOnWriteArrayList<>();

  // One thread at a time changes these fields. Any thread reads them.
  private volatile @Nullable Process process;
  private volatile String name = "";

  WorkerProcess(String base, Place place, Path folder) {
    this.base = base;
    this.place = place;
    this.folder = folder;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  String zone() {
    return place.zone();
  }

  /** Returns the name of the process that runs, or ran last. The server shows this name with a suffix. */
  String name() {
    return name;
  }

  /** Starts a process without waiting until it claims. */
  void start() {
    name = base + "-" + (names.size() + 1);
    names.add(name);
    List<String> command = new ArrayList<>(place.launcher());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(flag -> flag.startsWith("--"))
        .forEach(command::add);
    command.addAll(List.of("-ea", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
        System.getProperty("java.class.path"), JobWorkerProgram.class.getName(), place.server().toString(),
        place.queue(), name, place.zone(), Long.toString(LEASE.toMillis()), log(name).toString(),
        String.join(",", place.jobs())));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve(base + ".out").toFile()));
    if (place.apiKey() != null) {
      builder.environment().put(JobWorkerProgram.KEY, place.apiKey());
    }
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path log(String worker) {
    return folder.resolve(worker + ".log");
  }

  /** Returns the log of the process that runs, or ran last. */
  WorkerLog.Content content() {
    return WorkerLog.read(log(name));
  }

  /**
   * Returns whether the process has begun to claim.
   *
   * @throws AssertionError if the process has ended by itself
   */
  boolean isStarted() {
    if (!Objects.requireNonNull(process).isAlive()) {
      throw new AssertionError(
          "a worker has ended by itself: name=" + name + ", output=" + folder.resolve(base + ".out"));
    }
    return content().isStarted();
  }

  /** Ends the process with SIGKILL, and waits until it has ended. */
  void kill() {
    killed.add(name);
    end();
  }

  private void end() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
      await(running);
    }
  }

  /**
   * Ends the process with SIGTERM, as operators do, and waits until it has ended. The worker first finishes its shards,
   * or gives them back.
   */
  void stop() {
    Process running = Objects.requireNonNull(process);
    running.destroy();
    await(running);
    if (!content().isStopped()) {
      throw new AssertionError("a stopped worker did not end its handlers: name=" + name);
    }
  }

  private static void await(Process running) {
    try {
      if (!running.waitFor(END_BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("a worker outlived a signal that ends it: pid=" + running.pid());
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Pauses the process with SIGSTOP. */
  void freeze() {
    Signals.freeze(Objects.requireNonNull(process).pid());
  }

  void thaw() {
    Signals.thaw(Objects.requireNonNull(process).pid());
  }

  /** Returns the attempts of all processes of this worker. */
  List<ShardAttempt> attempts() {
    return names.stream().flatMap(each -> WorkerLog.read(log(each)).attempts().stream()).toList();
  }

  /** Returns the names of the processes that were killed. */
  Set<String> killed() {
    return new HashSet<>(killed);
  }

  @Override
  public void close() {
    end();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
