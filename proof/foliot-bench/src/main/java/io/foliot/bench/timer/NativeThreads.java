package io.foliot.bench.timer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the threads of this process in Linux, each of which is a directory below {@code /proc/self/task}. */
final class NativeThreads {
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final Pattern WAITS = Pattern.compile("\\nvoluntary_ctxt_switches:\\s*(\\d+)");

  /** Names of threads that the JVM may start at any moment. */
  private static final Pattern OF_THE_JVM = Pattern.compile("(C1|C2|GC|G1|VM) .*", Pattern.DOTALL);

  private NativeThreads() {}

  static boolean areVisible() {
    return Files.isDirectory(TASKS);
  }

  /** Returns all threads; empty if this is not Linux. */
  static Set<Path> all() {
    if (!areVisible()) {
      return Set.of();
    }
    try (Stream<Path> threads = Files.list(TASKS)) {
      return threads.collect(Collectors.toSet());
    } catch (IOException e) {
      throw new IllegalStateException("the threads of this process must be readable", e);
    }
  }

  /** Returns all threads except those that the JVM may start at any moment. */
  static Set<Path> ofJava() {
    return all().stream().filter(thread -> !OF_THE_JVM.matcher(read(thread, "comm")).matches())
        .collect(Collectors.toSet());
  }

  /**
   * Returns how often a thread has waited, and so given up the CPU, since the thread began; 0 if it has ended. Each
   * wait ends with a wake-up.
   */
  static long waits(Path thread) {
    Matcher matcher = WAITS.matcher(read(thread, "status"));
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  /** Returns the text of a thread's file; empty if the thread has ended. */
  private static String read(Path thread, String file) {
    try {
      return Files.readString(thread.resolve(file));
    } catch (IOException e) {
      return "";
    }
  }
}
