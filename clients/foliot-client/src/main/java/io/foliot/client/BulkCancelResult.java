package io.foliot.client;

import org.jspecify.annotations.Nullable;

/**
 * The result of a cancel of many tasks.
 *
 * @param cancelled how many tasks were cancelled; no further attempt of them begins
 * @param pending how many tasks have an attempt that may still be running, and may still succeed; such a task is
 *     cancelled when its attempt fails or its lease ends
 * @param nextCursor the cursor for the next call; null if there are no more tasks
 */
public record BulkCancelResult(long cancelled, long pending, @Nullable String nextCursor) {
  static BulkCancelResult of(JsonObject json) {
    return new BulkCancelResult(json.number("cancelled"), json.number("pending"), json.textOrNull("nextCursor"));
  }

  BulkCancelResult plus(BulkCancelResult next) {
    return new BulkCancelResult(cancelled + next.cancelled, pending + next.pending, next.nextCursor);
  }
}
