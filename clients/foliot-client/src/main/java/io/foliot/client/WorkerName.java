package io.foliot.client;

import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The name of this process in its claims: the name that its operator gave, and eight random hexadecimal digits of this
 * start. So two processes never share a name, and a process that was restarted has another one.
 */
final class WorkerName {
  /** Most characters of a name that is given: the server takes 128 with the digits. */
  static final int MAX_GIVEN = 119;

  private static final String SUFFIX = HexFormat.of().toHexDigits(new SecureRandom().nextInt());

  private WorkerName() {}

  /**
   * Returns the name of this process; the same for the same given name.
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
