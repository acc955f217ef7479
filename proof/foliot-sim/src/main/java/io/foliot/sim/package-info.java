/** The simulation of a cluster, of jobs and of workers, with their judges. Never published. */
@NullMarked
package io.foliot.sim;

import org.jspecify.annotations.NullMarked;
