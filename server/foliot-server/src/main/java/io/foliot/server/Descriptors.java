package io.foliot.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The files and connections that this process may have open at once. */
final class Descriptors {
  private Descriptors() {}

  /** The limit; more than any number of connections where the system has none or does not tell it. */
  static long limit() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        ? system.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  /** Returns how many more may be opened. */
  static long free() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        ? system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
