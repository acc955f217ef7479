package io.foliot.store.rocksdb;

import java.util.List;
import java.util.Map;

/**
 * The result of a verification: the numbers of things read, and the damage found.
 *
 * @param read the number of things read, by kind: {@code tables}, {@code records}, {@code index}, ...
 * @param damageCount the number of damaged files and entries
 * @param damages the first damaged files and entries, at most 100
 */
public record VerifyReport(Map<String, Long> read, long damageCount, List<Damage> damages) {
  /**
   * A file or an entry that differs from its written content, or contradicts another entry.
   *
   * @param where the column family that holds the entry; {@code files}; or {@code meta} for the number of slots and the
   *     counts of tasks
   * @param what the damaged thing, for example the id of a task or the name of a file
   * @param reason the damage
   */
  public record Damage(String where, String what, String reason) {}

  /** Returns whether nothing is damaged. */
  public boolean isWhole() {
    return damageCount == 0;
  }
}
