package io.foliot.core.store;

import io.foliot.core.TaskId;
import io.foliot.core.Token;

/**
 * A lease to be extended.
 *
 * @param id the task
 * @param token the claim's token
 * @param leaseMillis how long from now it shall hold
 */
public record Extension(TaskId id, Token token, long leaseMillis) {}
