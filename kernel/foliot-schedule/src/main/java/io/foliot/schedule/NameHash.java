package io.foliot.schedule;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The hash of a job's name that spreads load: {@code H} of cron, the offset of {@code every}, jitter. Scheduled times
 * follow from the hash, so a change of this function moves the times of stored jobs.
 *
 * <p>Algorithm: FNV-1a of 64 bits (Fowler, Noll, Vo) hashes the name in UTF-8. The finalizer of SplitMix64 (Steele,
 * Lea, Flood 2014) is then applied to the sum of this hash and a multiple of the salt. The finalizer is needed because
 * FNV mixes the last bytes badly. String.hashCode was rejected, because it returns adjacent numbers for similar names.
 */
final class NameHash {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private NameHash() {}

  /** Returns a number from 0 to {@code bound - 1} that follows from a name and a salt. */
  static long below(long bound, String name, long salt) {
    long hash = FNV_OFFSET;
    for (byte each : name.getBytes(UTF_8)) {
      hash = (hash ^ (each & 0xff)) * FNV_PRIME;
    }
    return Long.remainderUnsigned(mixed(hash + GOLDEN_GAMMA * (salt + 1)), bound);
  }

  private static long mixed(long bits) {
    long mixed = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
