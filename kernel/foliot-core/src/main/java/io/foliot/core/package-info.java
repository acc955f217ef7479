/** The words of Foliot as types, and {@link io.foliot.core.Scheduler}, the one way into the engine. */
@NullMarked
package io.foliot.core;

import org.jspecify.annotations.NullMarked;
