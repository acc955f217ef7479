/**
 * Short implementations of the classic timer queues. {@link io.foliot.wheel.TimerWheel} is derived from them and
 * measured against them. Each class states its costs with n waiting timers, as Varghese and Lauck do in "Hashed and
 * Hierarchical Timing Wheels", SOSP 1987. The paper's start and stop of a timer are called schedule and cancel
 * here; the third cost is the work of a tick.
 */
@NullMarked
package io.foliot.bench.classic;

import org.jspecify.annotations.NullMarked;
