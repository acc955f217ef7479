package io.foliot.store.jdbc;

import io.foliot.core.store.ClaimResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of claims, in the order of the claims.
 *
 * @param micros the time by the database's clock at which the claims were decided, in microseconds since 1970
 * @param results the results; null for a claim that takes the general path, for example because its task is not
 *     waiting or cannot be read
 */
record Claimed(long micros, List<@Nullable ClaimResult> results) {}
