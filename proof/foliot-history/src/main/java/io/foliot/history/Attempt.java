package io.foliot.history;

import org.jspecify.annotations.Nullable;

/**
 * The data that a delivery carries of itself.
 *
 * @param attempt counts the attempts of a firing, those that never arrived among them
 * @param dueAtMillis the due time that the delivery names
 */
public record Attempt(String taskId, String queue, @Nullable String key, long generation, String firingId, int attempt,
    long dueAtMillis) {}
