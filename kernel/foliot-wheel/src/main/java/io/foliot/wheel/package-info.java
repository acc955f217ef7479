/** Timing wheels, and timers and executors that run on them. */
@NullMarked
package io.foliot.wheel;

import org.jspecify.annotations.NullMarked;
