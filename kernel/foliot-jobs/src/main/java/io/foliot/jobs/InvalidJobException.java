package io.foliot.jobs;

/**
 * Thrown when a setting of a job, or of a request about a job, is refused. The parts of the message are available
 * separately, so that a caller never parses the text.
 */
public final class InvalidJobException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  private final String setting;
  private final String expected;
  private final String found;

  InvalidJobException(String setting, String expected, String found) {
    super(setting + ": expected " + expected + ", but got " + found);
    this.setting = setting;
    this.expected = expected;
    this.found = found;
  }

  static void ensure(boolean holds, String setting, String expected, Object found) {
    if (!holds) {
      throw new InvalidJobException(setting, expected, String.valueOf(found));
    }
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
