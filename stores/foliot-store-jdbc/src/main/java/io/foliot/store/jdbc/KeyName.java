package io.foliot.store.jdbc;

/** A key in its queue. */
record KeyName(String queue, String key) {}
