/** Timing wheels and timers. */
@NullMarked
package io.foliot.wheel;

import org.jspecify.annotations.NullMarked;
