/**
 * Comparison of timers. The program {@link io.foliot.bench.timer.TimerComparison} makes the whole comparison. The
 * classes whose names end with Benchmark measure single operations with JMH.
 */
@NullMarked
package io.foliot.bench.timer;

import org.jspecify.annotations.NullMarked;
