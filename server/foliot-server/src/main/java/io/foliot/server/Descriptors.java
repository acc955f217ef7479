package io.foliot.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The file descriptors of this process: how many files and connections it may have open at a time. */
final class Descriptors {
  private Descriptors() {}

  /** Returns the limit of open descriptors; {@link Long#MAX_VALUE} if the system does not report it. */
  static long limit() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        ? system.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }

  /** Returns how many more descriptors may be opened; {@link Long#MAX_VALUE} if the system does not report it. */
  static long free() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        ? system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
