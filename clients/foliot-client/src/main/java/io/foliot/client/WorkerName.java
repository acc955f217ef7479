package io.foliot.client;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The name with which a worker of this process claims: the given name, a hyphen, and eight hexadecimal digits that are
 * random for each start of the process. Two processes therefore have different names, and so has a process after a
 * restart.
 */
final class WorkerName {
  /** Most characters of a given name: the server accepts 128, including the hyphen and the digits. */
  static final int MAX_GIVEN = 119;

  private static final String SUFFIX = HexFormat.of().toHexDigits(new SecureRandom().nextInt());

  private WorkerName() {}

  /**
   * Returns the name for the claims of this process. It is always the same for the same given name.
   *
   * @throws IllegalArgumentException if the given name is empty, or longer than {@link #MAX_GIVEN}
   */
  static String of(String given) {
    if (Names.requireName("name", given).length() > MAX_GIVEN) {
      throw new IllegalArgumentException(
          "the name of a worker has at most " + MAX_GIVEN + " characters: characters=" + given.length());
    }
    return given + "-" + SUFFIX;
  }
}
