package io.foliot.server.api;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/** A check that bytes are UTF-8: parsers accept some malformed sequences, which would then appear in answers. */
final class Utf8 {
  /** Size of the buffer for decoded text, in characters. The text is discarded. */
  private static final int CHUNK = 4 << 10;

  private Utf8() {}

  /** Returns the index of the first byte that is not UTF-8, or -1 if all bytes are. */
  static int firstMistake(byte[] bytes) {
    int ascii = 0;
    while (ascii < bytes.length && bytes[ascii] >= 0) {
      ascii++;
    }
    return ascii == bytes.length ? -1 : decode(bytes, ascii);
  }

  private static int decode(byte[] bytes, int from) {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer in = ByteBuffer.wrap(bytes, from, bytes.length - from);
    CharBuffer out = CharBuffer.allocate(CHUNK);
    while (true) {
      CoderResult result = decoder.decode(in, out, true);
      if (result.isError()) {
        return in.position();
      }
      if (result.isUnderflow()) {
        return -1;
      }
      out.clear();
    }
  }
}
