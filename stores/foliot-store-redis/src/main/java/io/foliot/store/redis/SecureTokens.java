package io.foliot.store.redis;

import io.foliot.core.Token;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.Supplier;

/**
 * Tokens that nobody can guess. A thousand at a time, for the system's source of randomness is a call into it. Any
 * thread.
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
