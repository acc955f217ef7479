package io.foliot.store.rocksdb;

import java.util.List;
import java.util.Map;

/**
 * The result of a verification: the number of records read, and the damaged ones.
 *
 * @param read how many of each kind were read: {@code tables}, {@code records}, {@code index}, ...
 * @param damageCount how many damages there are
 * @param damages the first of them
 */
public record VerifyReport(Map<String, Long> read, long damageCount, List<Damage> damages) {
  /**
   * Something that is not as it was written.
   *
   * @param where the family of entries, or {@code files}
   * @param what the damaged thing: the id of a task, the name of a file, or a key
   * @param reason the damage
   */
  public record Damage(String where, String what, String reason) {}

  /** Returns whether nothing is damaged. */
  public boolean isWhole() {
    return damageCount == 0;
  }
}
