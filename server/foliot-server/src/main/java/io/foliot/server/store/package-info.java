/** The kinds of stores there are. */
@NullMarked
package io.foliot.server.store;

import org.jspecify.annotations.NullMarked;
