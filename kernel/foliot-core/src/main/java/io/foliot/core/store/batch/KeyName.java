package io.foliot.core.store.batch;

/** A key within its queue. */
public record KeyName(String queue, String key) {}
