package io.foliot.engine;

import io.foliot.api.Body;
import io.foliot.core.Submission;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * The digest of a request, in 64 bits. It distinguishes a repeated request from a different one under the same
 * idempotency key. It consists of two checksums of the same bytes, with different polynomials. They guard against
 * mistakes, not against an adversary: a caller that forges a digest harms only its own requests.
 */
final class Digest {
  /** The headers left out of the digest: a repeated request is another span of the same trace. */
  private static final Set<String> TRACE = Set.of("traceparent", "tracestate");

  private final CRC32 low = new CRC32();
  private final CRC32C high = new CRC32C();

  private Digest() {}

  static long of(Submission submission) {
    Digest digest = new Digest();
    digest.add(String.valueOf(submission.delay()));
    digest.add(String.valueOf(submission.dueAt()));
    digest.add(submission.maxAttempts() + " " + submission.onConflict());
    Body body = submission.body();
    if (body != null) {
      digest.add(body.contentType());
      for (Map.Entry<String, String> header : new TreeMap<>(body.headers()).entrySet()) {
        if (!TRACE.contains(header.getKey().toLowerCase(Locale.ROOT))) {
          digest.add(header.getKey());
          digest.add(header.getValue());
        }
      }
      digest.add(body.payload());
    }
    return (digest.high.getValue() << 32) | digest.low.getValue();
  }

  private void add(String text) {
    add(text.getBytes(StandardCharsets.UTF_8));
    add(new byte[]{(byte) 0xFF});
  }

  private void add(byte[] bytes) {
    low.update(bytes);
    high.update(bytes);
  }
}
