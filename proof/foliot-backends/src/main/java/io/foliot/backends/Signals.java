package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** The signals that pause and resume processes of this machine. */
public final class Signals {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private Signals() {}

  /** Pauses a process (SIGSTOP). On return no thread of the process runs; some threads may still wait for the disk. */
  public static void freeze(long pid) {
    Command.run("sh", "-c", "kill -STOP " + pid);
    Await.until("the process is stopped: pid=" + pid, BOUND, () -> isStopped(pid));
  }

  /** Resumes a process after {@link #freeze}. */
  public static void thaw(long pid) {
    Command.run("sh", "-c", "kill -CONT " + pid);
  }

  private static boolean isStopped(long pid) {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"));
        // The state follows the name, which is in brackets: T is stopped, D waits for the disk.
        if ("TD".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) < 0) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
