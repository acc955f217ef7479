package io.foliot.bench.timer;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The total CPU time of all threads of this process until a moment. */
record ProcessCpu(long coarseNanos, long fineNanos) {
  /*
   * The coarse figure comes from the MXBean. On Linux it has steps of 10 ms, which is an error of 10 ns per timer for a
   * million timers, and of 200 ns for 50,000. The fine figure is the sum over the threads in the statistics of the
   * Linux scheduler. It is exact, but lacks threads that have ended. So the fine figure is used unless the two differ
   * by more than two steps.
   */
  private static final long MAX_DIFFERENCE_NANOS = 20_000_000;

  private static final OperatingSystemMXBean SYSTEM = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  static ProcessCpu now() {
    return new ProcessCpu(SYSTEM.getProcessCpuTime(), threadNanos());
  }

  long nanosSince(ProcessCpu start) {
    long coarse = coarseNanos - start.coarseNanos;
    long fine = fineNanos - start.fineNanos;
    return Math.abs(fine - coarse) <= MAX_DIFFERENCE_NANOS ? fine : coarse;
  }

  private static long threadNanos() {
    long sum = 0;
    for (Path thread : NativeThreads.all()) {
      try {
        String figures = Files.readString(thread.resolve("schedstat"));
        sum += Long.parseLong(figures.substring(0, figures.indexOf(' ')));
      } catch (IOException e) {
        // The thread has ended since it was listed, or this system has no such statistics.
      }
    }
    return sum;
  }
}
