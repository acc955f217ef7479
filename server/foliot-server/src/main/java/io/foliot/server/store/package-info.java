/** The stores that a configuration can name, and their private files. */
@NullMarked
package io.foliot.server.store;

import org.jspecify.annotations.NullMarked;
