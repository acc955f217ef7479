/**
 * The general path of a store: read the records of a batch, decide on an overlay of them, and write the changes if the
 * records are still the same. A store adds its reads and its writes.
 */
@NullMarked
package io.foliot.core.store.batch;

import org.jspecify.annotations.NullMarked;
