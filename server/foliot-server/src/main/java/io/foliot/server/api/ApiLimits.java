package io.foliot.server.api;

import java.time.Duration;

/**
 * The limits of one request.
 *
 * @param bodyBytes the largest payload, and the largest body of a call without a payload, in bytes
 * @param batchBytes the largest body of a batch, in bytes
 * @param callTimeout the longest time that a request waits for the store; some calls, such as a claim, may wait longer
 */
public record ApiLimits(int bodyBytes, int batchBytes, Duration callTimeout) {
  /** Bytes that a body may have besides its payload: headers, a key, the names of fields. */
  private static final int ENVELOPE_BYTES = 64 << 10;

  /** Returns the largest body, in bytes, of a call with one payload, which may be in Base64. */
  int envelopeBytes() {
    return bodyBytes / 3 * 4 + ENVELOPE_BYTES;
  }
}
