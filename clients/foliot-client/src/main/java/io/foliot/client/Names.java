package io.foliot.client;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The rules for names that users give and that servers answer with. */
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
   * Returns the same text, if UTF-8 has a form for it. Half a surrogate pair would become a question mark on its way,
   * so two keys could turn into one.
   *
   * @throws IllegalArgumentException if it has none
   */
  static String requireWellFormed(String what, String text) {
    try {
      StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return text;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(what + " must be well-formed Unicode, this has half a surrogate pair", e);
    }
  }

  /** As {@link #requireWellFormed}, and not empty. */
  static String requireName(String what, String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(what + " must not be empty");
    }
    return requireWellFormed(what, text);
  }

  /**
   * Returns the same text, if it can be the value of a header as it is: visible ASCII. The message does not repeat it.
   */
  static String requireVisibleAscii(String what, String text) {
    if (text.isEmpty() || !text.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IllegalArgumentException(
          what + " must be visible ASCII without spaces, because it travels in a header: length=" + text.length());
    }
    return text;
  }
}
