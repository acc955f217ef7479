package io.foliot.store.rocksdb;

import io.foliot.core.Token;
import io.foliot.core.store.format.BytesReader;
import java.security.SecureRandom;
import java.util.function.Supplier;

/** A source of tokens that cannot be guessed. It fetches random bytes for many tokens at a time. Not thread-safe. */
final class SecureTokens implements Supplier<Token> {
  private static final int TOKENS_PER_FETCH = 256;
  private static final int TOKEN_BYTES = 16;

  private final SecureRandom random = new SecureRandom();
  private final byte[] bytes = new byte[TOKENS_PER_FETCH * TOKEN_BYTES];
  private int used = bytes.length;

  @Override
  public Token get() {
    if (used == bytes.length) {
      random.nextBytes(bytes);
      used = 0;
    }
    Token token = new Token(BytesReader.u64(bytes, used), BytesReader.u64(bytes, used + 8));
    used += TOKEN_BYTES;
    return token;
  }
}
