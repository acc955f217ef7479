/** The embedded store, which is the default: tasks, their indexes and documents in RocksDB. */
@NullMarked
package io.foliot.store.rocksdb;

import org.jspecify.annotations.NullMarked;
