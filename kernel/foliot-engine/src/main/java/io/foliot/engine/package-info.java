/** The engine: event loops with wheels, lanes, group commit. */
@NullMarked
package io.foliot.engine;

import org.jspecify.annotations.NullMarked;
