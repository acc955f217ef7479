package io.foliot;

import java.io.IOException;

/**
 * Writes and reads payloads. Must be safe for use by any thread. Payloads outlive deployments, so a codec must read the
 * payloads that its earlier versions wrote.
 *
 * @param <T> the type of the payloads
 */
public interface PayloadCodec<T> {
  /** Returns the media type of the payloads that this codec writes. */
  String contentType();

  /**
   * Writes a payload, of at most 1 MiB.
   *
   * @throws IOException if it cannot be written; the submit fails with an {@link IllegalArgumentException}
   */
  byte[] encode(T payload) throws IOException;

  /**
   * Reads a payload.
   *
   * @throws IOException if it cannot be read; the attempt then fails, and is repeated while the task has attempts left
   */
  T decode(byte[] bytes) throws IOException;
}
