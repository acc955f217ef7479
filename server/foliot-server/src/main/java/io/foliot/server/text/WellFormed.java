package io.foliot.server.text;

import java.nio.charset.StandardCharsets;

/**
 * Text that can be written as UTF-8: without halves of surrogate pairs, which JSON escapes and cut texts may contain.
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
