package io.foliot.store.redis;

import io.foliot.core.Token;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.Supplier;

/**
 * A source of tokens that cannot be guessed. It generates the bytes of a thousand tokens at a time, because each use of
 * the system's random source is a system call. Thread-safe.
 */
final class SecureTokens implements Supplier<Token> {
  private static final int BYTES_AT_ONCE = 16_384;

  private final SecureRandom random = new SecureRandom();
  private final ByteBuffer buffer = ByteBuffer.allocate(BYTES_AT_ONCE).limit(0);

  @Override
  public synchronized Token get() {
    if (!buffer.hasRemaining()) {
      random.nextBytes(buffer.array());
      buffer.clear();
    }
    return new Token(buffer.getLong(), buffer.getLong());
  }
}
