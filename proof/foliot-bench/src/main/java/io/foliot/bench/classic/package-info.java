/**
 * The classic forms of a timer queue, each as short as it can be said: what {@link io.foliot.wheel.TimerWheel} is
 * measured against, and what it came from. The costs in their documentation are those of Varghese and Lauck, "Hashed
 * and Hierarchical Timing Wheels", SOSP 1987: starting a timer, stopping it, and the work of a tick, with n timers
 * standing.
 */
@NullMarked
package io.foliot.bench.classic;

import org.jspecify.annotations.NullMarked;
