package io.foliot.client;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Checks names and texts that callers supply, and converts names in answers to constants. */
final class Names {
  private Names() {}

  /** Returns the constant with a name, or {@code unrecognized} if no known constant has this name. */
  static <E extends Enum<E>> E constant(E[] known, String name, E unrecognized) {
    for (E constant : known) {
      if (constant.name().equals(name)) {
        return constant;
      }
    }
    return unrecognized;
  }

  /**
   * Returns the given text if UTF-8 can encode it. An unpaired surrogate would be replaced by a question mark, so two
   * different keys could become equal.
   *
   * @throws IllegalArgumentException if the text has an unpaired surrogate
   */
  static String requireWellFormed(String what, String text) {
    try {
      StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return text;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(what + " must be well-formed Unicode, but has an unpaired surrogate", e);
    }
  }

  /**
   * Returns the given text if it is not empty and UTF-8 can encode it.
   *
   * @throws IllegalArgumentException if the text is empty or has an unpaired surrogate
   */
  static String requireName(String what, String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(what + " must not be empty");
    }
    return requireWellFormed(what, text);
  }

  /**
   * Returns the given text if it is visible ASCII without spaces, and so valid as the value of a header.
   *
   * @throws IllegalArgumentException if the text is empty or has other characters. The message does not contain the
   *         text, which may be secret
   */
  static String requireVisibleAscii(String what, String text) {
    if (text.isEmpty() || !text.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IllegalArgumentException(
          what + " must be visible ASCII without spaces, because it is sent in a header: length=" + text.length());
    }
    return text;
  }
}
