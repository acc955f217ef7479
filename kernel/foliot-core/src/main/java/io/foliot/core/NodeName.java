package io.foliot.core;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/** Default names of nodes. Like {@link SystemClock}, this class depends on the machine; engines do not call it. */
public final class NodeName {
  /** Maximum number of characters of the host's name, so that the name with its suffix fits into a metrics label. */
  private static final int MAX_HOST_LENGTH = 48;
  private static final int SUFFIX_DIGITS = 5;

  private NodeName() {}

  /** Returns the name of this host with a random suffix, so that two nodes of one host have different names. */
  public static String ofThisHost(RandomGenerator random) {
    return of(host(), random);
  }

  static String of(String host, RandomGenerator random) {
    String allowed = host.replaceAll("[^A-Za-z0-9._-]", "-");
    return allowed.substring(0, Math.min(allowed.length(), MAX_HOST_LENGTH)) + "-"
        + HexFormat.of().toHexDigits(random.nextLong(), SUFFIX_DIGITS);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      // The host's name does not resolve, and no better name is known.
      return "node";
    }
  }
}
