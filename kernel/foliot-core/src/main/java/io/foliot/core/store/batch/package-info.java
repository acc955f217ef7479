/**
 * The steps of a batch that stores share: read the records of the batch, apply the items to an overlay of these
 * records, and write the changes if the records are still the same. Each store adds its own reads and writes.
 */
@NullMarked
package io.foliot.core.store.batch;

import org.jspecify.annotations.NullMarked;
