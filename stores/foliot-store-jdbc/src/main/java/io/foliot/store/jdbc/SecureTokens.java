package io.foliot.store.jdbc;

import io.foliot.core.Token;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.Supplier;

/** A source of tokens that cannot be guessed. It fetches the random bytes of many tokens at a time. Thread-safe. */
final class SecureTokens implements Supplier<Token> {
  private static final int TOKENS_PER_FETCH = 256;
  private static final int TOKEN_BYTES = 16;

  private final SecureRandom random = new SecureRandom();
  // guarded by this
  private final ByteBuffer bytes = ByteBuffer.allocate(TOKENS_PER_FETCH * TOKEN_BYTES);

  SecureTokens() {
    bytes.position(bytes.limit());
  }

  @Override
  public synchronized Token get() {
    if (!bytes.hasRemaining()) {
      random.nextBytes(bytes.array());
      bytes.rewind();
    }
    return new Token(bytes.getLong(), bytes.getLong());
  }
}
