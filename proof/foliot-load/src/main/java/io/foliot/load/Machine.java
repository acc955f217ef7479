package io.foliot.load;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Describes the machine and its load, and the resources that a process uses. */
final class Machine {
  private Machine() {}

  /** Returns the number of processors, the memory, the operating system and the Java version. */
  static String describe() {
    long memory = ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean bean
        ? bean.getTotalMemorySize() >> 30
        : 0;
    return Runtime.getRuntime().availableProcessors() + " processors, " + memory + " GiB, "
        + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java " + Runtime.version();
  }

  /** Returns the load average of the last minute, or 0 if the system does not report it. */
  static double loadAverage() {
    return Math.max(0, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /** Returns the load average of the last minute with one decimal. */
  static String loadText() {
    return String.format(Locale.ROOT, "%.1f", loadAverage());
  }

  /** Returns the type of a folder's file system, such as ext4 or tmpfs, or "unknown". */
  static String fileSystem(Path folder) {
    try {
      return Files.getFileStore(folder).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Returns the processor time of a process in nanoseconds; 0 if it has ended or the system has no such figure. */
  static long processorNanos(long pid) {
    return ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration()).map(time -> time.toNanos())
        .orElse(0L);
  }

  /** Returns the processor time of this process, in nanoseconds. */
  static long processorNanos() {
    return processorNanos(ProcessHandle.current().pid());
  }

  /** Returns the resident memory of a process in bytes, or 0 if the system does not report it. */
  static long residentBytes(long pid) {
    return status(pid, "VmRSS:") << 10;
  }

  /** Returns the number of operating system threads of a process, or 0 if the system does not report it. */
  static long threads(long pid) {
    return status(pid, "Threads:");
  }

  /** Returns the number in a line of {@code /proc/PID/status}, or 0 if there is no such file or line. */
  private static long status(long pid, String prefix) {
    try {
      return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream().filter(each -> each.startsWith(prefix))
          .mapToLong(each -> Long.parseLong(each.replaceAll("\\D", ""))).sum();
    } catch (IOException e) {
      return 0; // Only Linux has such files, and only for live processes.
    }
  }
}
