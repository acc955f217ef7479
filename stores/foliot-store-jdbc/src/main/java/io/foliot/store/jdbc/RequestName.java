package io.foliot.store.jdbc;

import org.jspecify.annotations.Nullable;

/** An idempotency key, within its queue and key. */
record RequestName(String queue, @Nullable String key, String request) {}
