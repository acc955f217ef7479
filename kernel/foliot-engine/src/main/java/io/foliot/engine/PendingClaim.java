package io.foliot.engine;

import io.foliot.core.store.Claim;
import io.foliot.core.store.DueEntry;
import org.jspecify.annotations.Nullable;

/**
 * A claim on its way to the store, with the resources that the claim holds meanwhile. These are a permit of its queue,
 * a place at its destination, memory for the payload, and the worker that waits for the task.
 *
 * @param bytes the memory that is reserved for the payload
 * @param destination the destination of the attempt; null for pull queues
 * @param waiter the worker that gets the task; null if the queue is not a pull queue
 */
record PendingClaim(Lane lane, DueEntry entry, Claim claim, long bytes, @Nullable Destination destination,
    LongPollQueue.@Nullable Waiter waiter) {}
