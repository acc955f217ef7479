/** Tests of the store on RocksDB. */
@NullMarked
package io.foliot.store.rocksdb;

import org.jspecify.annotations.NullMarked;
