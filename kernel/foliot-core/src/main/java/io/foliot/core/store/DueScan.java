package io.foliot.core.store;

import io.foliot.core.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * A range of the index of one slot.
 *
 * @param slot the slot
 * @param fromWakeAt the first instant, inclusive, in milliseconds since 1970
 * @param after the id at which the previous page ended: of the entries at {@code fromWakeAt}, only those with greater
 *     ids are read; null to read all
 * @param toWakeAt the last instant, inclusive, in milliseconds since 1970
 * @param limit the maximum number of entries to read; positive
 */
public record DueScan(int slot, long fromWakeAt, @Nullable TaskId after, long toWakeAt, int limit) {}
