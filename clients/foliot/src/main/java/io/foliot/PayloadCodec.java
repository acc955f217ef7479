package io.foliot;

import java.io.IOException;

/**
 * Writes and reads payloads. A codec must be safe for use by any thread. Payloads outlive deployments, so a codec must
 * read the payloads that its earlier versions wrote.
 *
 * @param <T> the type of the payloads
 */
public interface PayloadCodec<T> {
  /** Returns the media type of the payloads that this codec writes. */
  String contentType();

  /**
   * Returns a payload as bytes. A submit is refused if its payload has more than 1 MiB.
   *
   * @throws IOException if the payload cannot be written; the submit then fails with an
   *     {@link IllegalArgumentException}
   */
  byte[] encode(T payload) throws IOException;

  /**
   * Returns the payload that the bytes contain.
   *
   * @throws IOException if the payload cannot be read; the attempt then fails, and is repeated while the task has
   *     attempts left
   */
  T decode(byte[] bytes) throws IOException;
}
