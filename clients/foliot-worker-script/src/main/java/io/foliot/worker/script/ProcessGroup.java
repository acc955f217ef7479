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
 * A process and all processes that it starts. Not safe for use by several threads.
 *
 * <p>Signals go to the process and to the descendants that {@link ProcessHandle} finds. Where the system has
 * {@code setsid} and {@code kill}, the process can lead a new process group. Signals then also go to that group, and
 * reach processes whose parent has ended. The number of a group is not reused while the group has a member.
 *
 * <p>A group does not survive this process, not even its SIGKILL: a watcher in the group reads from a pipe that only
 * this process can write to. When this process ends, the pipe ends, and the watcher kills the group. A parent-death
 * signal (prctl) was rejected: it is sent when the thread that started the process ends, and not to the whole group.
 */
final class ProcessGroup {
  private static final System.Logger LOGGER = System.getLogger("io.foliot.worker.script");

  private static final @Nullable Path SETSID = find("setsid");
  private static final @Nullable Path KILL = find("kill");
  private static final @Nullable Path SHELL = find("sh");
  /**
   * Starts the watcher, and then becomes the program $0 with the standard input $1. The descriptor 3 is the pipe. The
   * watcher keeps none of the program's files open.
   */
  private static final String WATCHED = "exec 3<&0 <\"$1\"; "
      + "{ read -r _ <&3; kill -s KILL -- \"-$$\"; } >/dev/null 2>&1 </dev/null & exec 3<&-; exec \"$0\"";
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

  /** Returns whether the system has {@code setsid}, {@code kill} and {@code sh}, which a group needs. */
  static boolean hasGroups() {
    return SETSID != null && KILL != null && SHELL != null;
  }

  /**
   * Starts a program without arguments.
   *
   * @param input the file that is the program's standard input
   * @param isGroup whether the process leads a new process group; possible only if {@link #hasGroups} returns true
   */
  static ProcessGroup start(Path program, Path input, ProcessBuilder settings, boolean isGroup) throws IOException {
    List<String> command = new ArrayList<>();
    if (isGroup) {
      // setsid and the shell replace themselves with the program, so the process that is started here leads the group.
      command.addAll(List.of(String.valueOf(SETSID), String.valueOf(SHELL), "-c", WATCHED, program.toString(),
          input.toString()));
    } else {
      command.add(program.toString());
      settings.redirectInput(input.toFile());
    }
    return new ProcessGroup(settings.command(command).start(), isGroup);
  }

  Process process() {
    return process;
  }

  /** Waits at most this long, and returns whether the process has ended. Processes that it started may still run. */
  boolean waitFor(Duration time) throws InterruptedException {
    return process.waitFor(TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
  }

  /** Sends SIGTERM to all processes. */
  void terminate() {
    signal("TERM", member -> {
      boolean unused = member.destroy();
    });
  }

  /** Kills all processes, and waits until {@link #process} has ended, at most {@link #END_WAIT}. */
  void kill() {
    signal("KILL", member -> {
      boolean unused = member.destroyForcibly();
    });
    await(process);
    if (isGroup) {
      try {
        process.getOutputStream().close();
      } catch (IOException e) {
        LOGGER.log(System.Logger.Level.DEBUG, "cannot close the pipe of a watcher: group=" + process.pid(), e);
      }
    }
  }

  private void signal(String name, Consumer<ProcessHandle> toEach) {
    // The list is made before any parent ends, because descendants are found only through their parents.
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
      // The command fails if the group has no member left; then there is nothing to signal.
      await(kill);
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.WARNING,
          "cannot signal a group of processes; those whose parent has ended may still run: group="
              + process.pid() + ", signal=" + name,
          e);
    }
  }

  /**
   * Waits for a process to end, at most {@link #END_WAIT}. An interrupt does not end the wait, because no script may
   * run after its handler has returned.
   */
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
