package io.foliot.core;

/**
 * The proof of a claim: 128 random bits that no other claim has.
 *
 * @param high the first 64 bits
 * @param low the last 64 bits
 */
public record Token(long high, long low) {
  private static final int TEXT_LENGTH = 32;

  /**
   * Parses the text that {@link #toString} returns.
   *
   * @throws IllegalArgumentException if the text is not a token
   */
  public static Token parse(String text) {
    if (text.length() != TEXT_LENGTH) {
      throw new IllegalArgumentException("a lease token has 32 hexadecimal digits: length=" + text.length());
    }
    try {
      return new Token(Long.parseUnsignedLong(text, 0, 16, 16), Long.parseUnsignedLong(text, 16, 32, 16));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("a lease token has 32 hexadecimal digits", e);
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(TEXT_LENGTH);
    append(text, high);
    append(text, low);
    return text.toString();
  }

  private static void append(StringBuilder text, long bits) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text.append(Character.forDigit((int) (bits >>> shift) & 0xF, 16));
    }
  }
}
