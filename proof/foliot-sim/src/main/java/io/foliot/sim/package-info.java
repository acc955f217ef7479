/** The simulator and the history checker. Never published. */
@NullMarked
package io.foliot.sim;

import org.jspecify.annotations.NullMarked;
