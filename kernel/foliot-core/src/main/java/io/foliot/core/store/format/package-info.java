/**
 * The format of stored data: bytes, checksums, a code for each constant, and the parts of a record. A store that uses
 * it can tell damaged data from data that a newer version wrote.
 */
@NullMarked
package io.foliot.core.store.format;

import org.jspecify.annotations.NullMarked;
