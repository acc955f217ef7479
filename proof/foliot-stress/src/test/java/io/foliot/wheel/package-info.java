/** Runs the stress tests briefly, and tests that they can fail. */
@NullMarked
package io.foliot.wheel;

import org.jspecify.annotations.NullMarked;
