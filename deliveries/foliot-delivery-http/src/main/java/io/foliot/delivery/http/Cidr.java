package io.foliot.delivery.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An IP network: the addresses of one family that begin with the same bits. */
public final class Cidr {
  private final byte[] network;
  private final int prefixLength;
  private final String text;

  private Cidr(byte[] network, int prefixLength, String text) {
    this.network = network;
    this.prefixLength = prefixLength;
    this.text = text;
  }

  /**
   * Parses {@code 10.0.0.0/8}, {@code fd00::/8}, or a single address.
   *
   * @throws IllegalArgumentException if the text has none of these forms, or if bits are set after the prefix, which is
   *     most likely a typing mistake
   */
  public static Cidr parse(String text) {
    int slash = text.indexOf('/');
    byte[] address = IpLiteral.parse(slash < 0 ? text : text.substring(0, slash));
    if (address == null) {
      throw malformed(text, "the address is malformed");
    }
    int bits = address.length * 8;
    int prefix = slash < 0 ? bits : number(text.substring(slash + 1));
    if (prefix < 0 || prefix > bits) {
      throw malformed(text, "the prefix length must be from 0 to " + bits);
    }
    for (int bit = prefix; bit < bits; bit++) {
      if ((address[bit >> 3] & (0x80 >> (bit & 7))) != 0) {
        throw malformed(text, "bits are set after the prefix");
      }
    }
    return new Cidr(address, prefix, text);
  }

  private static int number(String digits) {
    if (digits.isEmpty() || digits.length() > 3 || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return -1;
    }
    return Integer.parseInt(digits);
  }

  private static IllegalArgumentException malformed(String text, String why) {
    String shown = text.length() > 64 ? text.substring(0, 64) + "..." : text;
    return new IllegalArgumentException(
        "a network is written like 10.0.0.0/8 or fd00::/8; " + why + ": network=" + shown);
  }

  /** Returns whether this network contains an address of 4 or 16 bytes; false for an address of another family. */
  boolean contains(byte[] address) {
    if (address.length != network.length) {
      return false;
    }
    int wholeBytes = prefixLength >> 3;
    int restBits = prefixLength & 7;
    if (Arrays.mismatch(address, 0, wholeBytes, network, 0, wholeBytes) >= 0) {
      return false;
    }
    return restBits == 0 || ((address[wholeBytes] ^ network[wholeBytes]) & (0xFF00 >> restBits) & 0xFF) == 0;
  }

  /** Returns whether all addresses of this network are in another network. */
  boolean isWithin(Cidr other) {
    return prefixLength >= other.prefixLength && other.contains(network);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cidr that && prefixLength == that.prefixLength && Arrays.equals(network, that.network);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(network) + prefixLength;
  }

  @Override
  public String toString() {
    return text;
  }
}
