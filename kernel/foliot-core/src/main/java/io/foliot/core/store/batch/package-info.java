/**
 * The general path of a store: read the records of a batch, decide over an overlay of them, and write the changes if
 * the records are still the same. A store adds how it reads and how it writes.
 */
@NullMarked
package io.foliot.core.store.batch;

import org.jspecify.annotations.NullMarked;
