package io.foliot.server.text;

import java.nio.charset.StandardCharsets;

/**
 * Checks of text that must be writable as UTF-8. An escape in JSON, or the cut of a text, can leave half a surrogate
 * pair, which UTF-8 cannot represent.
 */
public final class WellFormed {
  private WellFormed() {}

  /** Returns whether a text can be written as UTF-8. */
  public static boolean is(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return text.equals(repaired(text));
      }
    }
    return true;
  }

  /** Returns the text, with question marks for characters that cannot be written. */
  public static String of(String text) {
    return is(text) ? text : repaired(text);
  }

  private static String repaired(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
