/**
 * The format of what stores keep: bytes, checksums, a code for each constant, and the parts of a record. A store that
 * writes with these can tell what is damaged from what a newer version wrote.
 */
@NullMarked
package io.foliot.core.store.format;

import org.jspecify.annotations.NullMarked;
