@NullMarked
package io.foliot.sim.history;

import org.jspecify.annotations.NullMarked;
