/**
 * Timers beside their peers: {@link io.foliot.bench.timer.TimerComparison} is the whole comparison in one program, the
 * others are JMH benchmarks of single operations.
 */
@NullMarked
package io.foliot.bench.timer;

import org.jspecify.annotations.NullMarked;
