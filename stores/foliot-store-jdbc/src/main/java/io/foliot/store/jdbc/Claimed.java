package io.foliot.store.jdbc;

import io.foliot.core.store.ClaimResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of claims, by their place in the list.
 *
 * @param micros the database's clock when it judged them
 * @param results null where the task does not wait, which takes the general path
 */
record Claimed(long micros, List<@Nullable ClaimResult> results) {}
