package io.foliot.client;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Derives the name with which a worker claims: the given name, a hyphen, and eight hexadecimal digits. The digits are
 * chosen at random, once per process. So workers of two processes almost certainly have different names, and a
 * restarted process has new names.
 */
final class WorkerName {
  /** Maximum number of characters of a given name: the server accepts 128, including the hyphen and the digits. */
  static final int MAX_GIVEN = 119;

  private static final String SUFFIX = HexFormat.of().toHexDigits(new SecureRandom().nextInt());

  private WorkerName() {}

  /**
   * Returns the name with which a worker of this process claims. It depends only on the given name and the process.
   *
   * @throws IllegalArgumentException if the given name is empty, longer than {@link #MAX_GIVEN}, or not well-formed
   *         Unicode
   */
  static String of(String given) {
    if (Names.requireName("name", given).length() > MAX_GIVEN) {
      throw new IllegalArgumentException(
          "name: expected at most " + MAX_GIVEN + " characters, but got " + given.length());
    }
    return given + "-" + SUFFIX;
  }
}
