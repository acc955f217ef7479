package io.foliot.store.jdbc;

import io.foliot.core.store.ClaimResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of claims, in the order of the claims.
 *
 * @param micros when the claims were decided, a reading of the database's clock in microseconds since 1970
 * @param results the results; null for a claim that takes the general path, for example because the task is not waiting
 *     or cannot be read
 */
record Claimed(long micros, List<@Nullable ClaimResult> results) {}
