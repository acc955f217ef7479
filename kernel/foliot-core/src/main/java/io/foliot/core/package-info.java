/** The domain types of Foliot, and {@link io.foliot.core.Scheduler}, the entry point to the engine. */
@NullMarked
package io.foliot.core;

import org.jspecify.annotations.NullMarked;
