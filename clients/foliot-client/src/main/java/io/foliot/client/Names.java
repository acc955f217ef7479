package io.foliot.client;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Checks of names and texts that callers supply, and the conversion of names in answers. */
final class Names {
  private Names() {}

  static <E extends Enum<E>> E constant(E[] known, String name, E unrecognized) {
    for (E constant : known) {
      if (constant.name().equals(name)) {
        return constant;
      }
    }
    return unrecognized;
  }

  /**
   * Returns the given text if UTF-8 can encode it. Half a surrogate pair would be replaced by a question mark, so two
   * keys could become equal.
   *
   * @throws IllegalArgumentException if UTF-8 cannot encode it
   */
  static String requireWellFormed(String what, String text) {
    try {
      StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return text;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(what + " must be well-formed Unicode, this has half a surrogate pair", e);
    }
  }

  /** As {@link #requireWellFormed}, and also refuses an empty text. */
  static String requireName(String what, String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(what + " must not be empty");
    }
    return requireWellFormed(what, text);
  }

  /**
   * Returns the given text if it is visible ASCII without spaces, and so valid as the value of a header. The message of
   * the exception does not repeat it.
   */
  static String requireVisibleAscii(String what, String text) {
    if (text.isEmpty() || !text.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IllegalArgumentException(
          what + " must be visible ASCII without spaces, because it travels in a header: length=" + text.length());
    }
    return text;
  }
}
