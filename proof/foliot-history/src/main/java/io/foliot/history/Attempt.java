package io.foliot.history;

import org.jspecify.annotations.Nullable;

/**
 * The data by which a delivery identifies its attempt.
 *
 * @param key the caller's key, or null if the task has none
 * @param attempt the number of this attempt among all attempts of the firing, including those that never arrived
 * @param dueAtMillis the due time that the delivery names
 */
public record Attempt(String taskId, String queue, @Nullable String key, long generation, String firingId, int attempt,
    long dueAtMillis) {}
