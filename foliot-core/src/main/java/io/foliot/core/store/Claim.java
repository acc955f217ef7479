package io.foliot.core.store;

import io.foliot.core.TaskId;

/**
 * A task to be claimed.
 *
 * @param id the task
 * @param leaseMillis how long the claim shall hold
 */
public record Claim(TaskId id, long leaseMillis) {}
