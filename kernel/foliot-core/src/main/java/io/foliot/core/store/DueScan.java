package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * A range of the index of one slot.
 *
 * @param slot the slot
 * @param fromWakeAt the first instant, inclusive
 * @param after if not null, only ids after this one at {@code fromWakeAt}: where the last page ended
 * @param toWakeAt the last instant, inclusive
 * @param limit how many entries at most, at least 1
 */
public record DueScan(int slot, long fromWakeAt, @Nullable TaskId after, long toWakeAt, int limit) {}
