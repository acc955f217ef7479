package io.foliot.bench.timer;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The CPU time that all threads of this process have used up to a moment. */
record ProcessCpu(long coarseNanos, long fineNanos) {
  /*
   * The bean counts in steps of 10 ms on Linux, which is 10 ns a timer for a million of them and 200 ns for 50,000. The
   * scheduler's own figures are exact, but lack those of threads that have ended. So the fine figure is taken, unless
   * the coarse one says that something is missing from it.
   */
  private static final long COARSE_STEP_NANOS = 20_000_000;

  private static final OperatingSystemMXBean SYSTEM = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  static ProcessCpu now() {
    return new ProcessCpu(SYSTEM.getProcessCpuTime(), threadNanos());
  }

  long nanosSince(ProcessCpu start) {
    long coarse = coarseNanos - start.coarseNanos;
    long fine = fineNanos - start.fineNanos;
    return Math.abs(fine - coarse) <= COARSE_STEP_NANOS ? fine : coarse;
  }

  private static long threadNanos() {
    long sum = 0;
    for (Path thread : NativeThreads.all()) {
      try {
        String figures = Files.readString(thread.resolve("schedstat"));
        sum += Long.parseLong(figures.substring(0, figures.indexOf(' ')));
      } catch (IOException e) {
        // It has ended since it was listed, or this system does not say.
      }
    }
    return sum;
  }
}
