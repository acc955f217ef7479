package io.foliot.worker.script;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A process with all that it starts. For one thread.
 *
 * <p>Where the system has {@code setsid} and {@code kill}, the process leads a group of its own, and signals go to the
 * group: they reach processes whose parent has ended. The number of a group is not used again while it has a member.
 * Elsewhere they go to the descendants that {@link ProcessHandle} finds.
 */
final class ProcessGroup {
  private static final System.Logger LOGGER = System.getLogger("io.foliot.worker.script");

  private static final @Nullable Path SETSID = find("setsid");
  private static final @Nullable Path KILL = find("kill");
  /** Longest wait for the command that sends a signal, and for a process that was killed. */
  private static final Duration END_WAIT = Duration.ofSeconds(5);

  private final Process process;
  private final boolean isGroup;

  private ProcessGroup(Process process, boolean isGroup) {
    this.process = process;
    this.isGroup = isGroup;
  }

  private static @Nullable Path find(String program) {
    return Stream.of("/usr/bin", "/bin").map(folder -> Path.of(folder, program)).filter(Files::isExecutable)
        .findFirst().orElse(null);
  }

  /** Returns whether the system has what groups of processes need. */
  static boolean hasGroups() {
    return SETSID != null && KILL != null;
  }

  /**
   * Starts a program without arguments.
   *
   * @param isGroup whether it leads a group of its own, for which the system {@linkplain #hasGroups has} what it needs
   */
  static ProcessGroup start(Path program, ProcessBuilder settings, boolean isGroup) throws IOException {
    List<String> command = new ArrayList<>();
    if (isGroup) {
      // It replaces itself by the program, so the process that is started here leads the group.
      command.add(String.valueOf(SETSID));
    }
    command.add(program.toString());
    return new ProcessGroup(settings.command(command).start(), isGroup);
  }

  Process process() {
    return process;
  }

  /** Returns whether the process has ended within a time; what it has started may still run. */
  boolean waitFor(Duration time) throws InterruptedException {
    return process.waitFor(TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
  }

  /** Asks all processes to end. */
  void terminate() {
    signal("TERM", member -> {
      boolean unused = member.destroy();
    });
  }

  /** Ends all processes, and waits until the one that was started has ended. */
  void kill() {
    signal("KILL", member -> {
      boolean unused = member.destroyForcibly();
    });
    await(process);
  }

  private void signal(String name, Consumer<ProcessHandle> toEach) {
    // Before the parents end, by which alone descendants are found.
    List<ProcessHandle> members = Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    members.forEach(toEach);
    if (isGroup) {
      signalGroup(name);
    }
  }

  private void signalGroup(String name) {
    try {
      Process kill = new ProcessBuilder(String.valueOf(KILL), "-" + name, "--", "-" + process.pid())
          .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
      kill.getOutputStream().close();
      // It fails if the group has no member left, which is as good.
      await(kill);
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.WARNING,
          "a group of processes could not be signalled, and processes whose parent has ended may still run: group="
              + process.pid() + ", signal=" + name,
          e);
    }
  }

  /** Waits for a command, through interrupts: what it does must be done before the thread ends. */
  private static void await(Process command) {
    long begunNanos = System.nanoTime();
    long limitNanos = TimeUnit.NANOSECONDS.convert(END_WAIT);
    boolean interrupted = false;
    boolean ended = false;
    while (!ended && System.nanoTime() - begunNanos < limitNanos) {
      try {
        ended = command.waitFor(limitNanos - (System.nanoTime() - begunNanos), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
