package io.foliot.store.jdbc;

import io.foliot.core.store.ClaimResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of claims, by their place in the list.
 *
 * @param micros the database's clock when the claims were decided
 * @param results the results; null for a claim that takes the general path, because its task is not waiting or cannot
 *     be read
 */
record Claimed(long micros, List<@Nullable ClaimResult> results) {}
