/**
 * Foliot's stores beside other schedulers on the same servers: {@link io.foliot.bench.store.StoreComparison} is the
 * whole comparison in one program.
 */
@NullMarked
package io.foliot.bench.store;

import org.jspecify.annotations.NullMarked;
