/**
 * The general path of a store: read the records of a batch, decide over an overlay of them, and write what changed if
 * it is still what was read. A store adds how it reads and how it writes.
 */
@NullMarked
package io.foliot.core.store.batch;

import org.jspecify.annotations.NullMarked;
