package io.foliot.store.rocksdb;

/** A key within its queue. */
record KeyName(String queue, String key) {}
