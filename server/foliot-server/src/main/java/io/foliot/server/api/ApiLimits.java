package io.foliot.server.api;

import java.time.Duration;

/**
 * The limits of one request.
 *
 * @param bodyBytes a payload, and the body of any call that is not a batch
 * @param batchBytes the body of a batch
 * @param callTimeout how long a request waits for the store
 */
public record ApiLimits(int bodyBytes, int batchBytes, Duration callTimeout) {
  /** Size of a body beside its payload: Base64, headers, a key. */
  private static final int ENVELOPE_BYTES = 64 << 10;

  /** Returns the largest body of a call that carries one payload, written in Base64 at worst. */
  int envelopeBytes() {
    return bodyBytes / 3 * 4 + ENVELOPE_BYTES;
  }
}
