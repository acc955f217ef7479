package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.Token;

/**
 * A claim and its new token.
 *
 * @param id the task
 * @param leaseMillis the length of the lease, in milliseconds; 0 for a move
 * @param notAfterMillis the last millisecond since 1970 in which the claim may win; a later claim is treated as a move
 * @param token a token that was never used before
 * @param slot the slot of the task
 */
record NewClaim(TaskId id, long leaseMillis, long notAfterMillis, Token token, int slot) {}
