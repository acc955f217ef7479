package io.foliot.load;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The conditions of figures, which mean little without them. */
final class Machine {
  private Machine() {}

  /** Processors, memory, system, Java. */
  static String describe() {
    long memory = ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean bean
        ? bean.getTotalMemorySize() >> 30
        : 0;
    return Runtime.getRuntime().availableProcessors() + " processors, " + memory + " GiB, "
        + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java " + Runtime.version();
  }

  /** Returns how many processes want a processor, over the last minute; 0 if the system does not tell. */
  static double loadAverage() {
    return Math.max(0, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  static String loadText() {
    return String.format(Locale.ROOT, "%.1f", loadAverage());
  }

  /** The kind of file system a folder is on; a tmpfs syncs nothing. */
  static String fileSystem(Path folder) {
    try {
      return Files.getFileStore(folder).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Processor time a process has taken, in nanoseconds; 0 if it is gone or the system does not tell. */
  static long processorNanos(long pid) {
    return ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration()).map(time -> time.toNanos())
        .orElse(0L);
  }

  /** Processor time this process has taken, in nanoseconds. */
  static long processorNanos() {
    return processorNanos(ProcessHandle.current().pid());
  }

  /** Memory a process has in use, in bytes; 0 if the system does not tell. */
  static long residentBytes(long pid) {
    return status(pid, "VmRSS:") << 10;
  }

  /** Threads of the system that a process has; 0 if the system does not tell. */
  static long threads(long pid) {
    return status(pid, "Threads:");
  }

  private static long status(long pid, String line) {
    try {
      return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream().filter(each -> each.startsWith(line))
          .mapToLong(each -> Long.parseLong(each.replaceAll("\\D", ""))).sum();
    } catch (IOException e) {
      return 0; // There is no such file outside Linux.
    }
  }
}
