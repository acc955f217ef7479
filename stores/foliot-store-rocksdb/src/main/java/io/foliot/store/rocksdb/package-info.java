/** The embedded default: a key-value timing wheel on RocksDB. */
@NullMarked
package io.foliot.store.rocksdb;

import org.jspecify.annotations.NullMarked;
