/** Simulations of a cluster, of recurring jobs and of workers, with their checkers. This module is not published. */
@NullMarked
package io.foliot.sim;

import org.jspecify.annotations.NullMarked;
