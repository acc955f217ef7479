package io.foliot.bench.store;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jobrunr.server.BackgroundJobServer;
import org.redisson.Redisson;

/** Describes the conditions under which figures are measured. */
final class Conditions {
  private static final List<Class<?>> PEERS = List.of(Scheduler.class, org.quartz.Scheduler.class,
      BackgroundJobServer.class, Redisson.class, HikariDataSource.class);

  private Conditions() {}

  /** Returns a sentence about processors, memory, operating system, Java, heap and load average. */
  static String machine() {
    var system = ManagementFactory.getOperatingSystemMXBean();
    long memory = system instanceof com.sun.management.OperatingSystemMXBean bean
        ? bean.getTotalMemorySize() >> 30
        : 0;
    return String.format(Locale.ROOT,
        "%d processors, %d GiB, %s %s %s, Java %s, heap %d MiB; load average before %.1f. The servers, the schedulers and"
            + " their callers share the processors.",
        Runtime.getRuntime().availableProcessors(), memory, System.getProperty("os.name"),
        System.getProperty("os.version"), System.getProperty("os.arch"), Runtime.version(),
        Runtime.getRuntime().maxMemory() >> 20, system.getSystemLoadAverage());
  }

  /** Returns the names of the peers' jars, which contain the versions. */
  static String peers() {
    return PEERS.stream().map(Conditions::jar).collect(Collectors.joining(", "));
  }

  private static String jar(Class<?> peer) {
    CodeSource source = peer.getProtectionDomain().getCodeSource();
    return source == null
        ? peer.getName()
        : String.valueOf(Path.of(source.getLocation().getPath()).getFileName()).replace(".jar", "");
  }
}
