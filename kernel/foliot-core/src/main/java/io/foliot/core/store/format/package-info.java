/**
 * The format of stored data: bytes, checksums, a code for each constant, and the parts of a record. A store with
 * this format can distinguish damaged data from data of a newer version.
 */
@NullMarked
package io.foliot.core.store.format;

import org.jspecify.annotations.NullMarked;
