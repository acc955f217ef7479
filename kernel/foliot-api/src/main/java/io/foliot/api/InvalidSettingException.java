package io.foliot.api;

/**
 * Thrown when a setting of an object, or of a request about one, is refused. The parts of the message are available
 * separately, so that a caller never parses the text.
 */
public final class InvalidSettingException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;
  /** Longest part of a text in a message, in characters. */
  private static final int SHOWN_LENGTH = 64;

  private final String setting;
  private final String expected;
  private final String found;

  /**
   * Creates the exception.
   *
   * @param expected a range or a rule
   * @param found the value, or a description of it
   */
  public InvalidSettingException(String setting, String expected, String found) {
    super(setting + ": expected " + expected + ", but got " + found);
    this.setting = setting;
    this.expected = expected;
    this.found = found;
  }

  /**
   * Ensures that a setting has its bounds.
   *
   * @throws InvalidSettingException otherwise
   */
  public static void ensure(boolean holds, String setting, String expected, Object found) {
    if (!holds) {
      throw new InvalidSettingException(setting, expected, String.valueOf(found));
    }
  }

  /** Returns the beginning of a text in quotation marks, for {@link #found}. */
  static String quoted(String text) {
    return '"' + (text.length() > SHOWN_LENGTH ? text.substring(0, SHOWN_LENGTH) + "..." : text) + '"';
  }

  /** Returns the refused setting, such as {@code shardParameters} or {@code misfire.window}. */
  public String setting() {
    return setting;
  }

  /** Returns the text that follows "expected" in the message: a range or a rule that the value breaks. */
  public String expected() {
    return expected;
  }

  /** Returns the refused value or a description of it, such as its size. */
  public String found() {
    return found;
  }
}
