/**
 * Comparison of Foliot's stores with other schedulers on the same servers. The program is
 * {@link io.foliot.bench.store.StoreComparison}.
 */
@NullMarked
package io.foliot.bench.store;

import org.jspecify.annotations.NullMarked;
