package io.foliot.core.store;

import java.util.List;

/**
 * The result of a scan of the index of one slot.
 *
 * @param slot the slot
 * @param entries the entries found, in ascending order of (wakeAt, id)
 * @param more whether the limit ended the scan before the end of its range
 */
public record DueSlice(int slot, List<DueEntry> entries, boolean more) {}
