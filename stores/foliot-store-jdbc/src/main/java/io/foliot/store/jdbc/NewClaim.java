package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.Token;

/**
 * A claim with the token that it shall have.
 *
 * @param id the task
 * @param leaseMillis the length of the lease; 0 for a move
 * @param notAfterMillis after this it counts as a move
 * @param token never used before
 * @param slot where the entry goes
 */
record NewClaim(TaskId id, long leaseMillis, long notAfterMillis, Token token, int slot) {}
