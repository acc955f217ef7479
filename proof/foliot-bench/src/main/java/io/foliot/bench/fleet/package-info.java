/** Benchmarks of the questions that a loop asks about the workers of a cluster. */
@NullMarked
package io.foliot.bench.fleet;

import org.jspecify.annotations.NullMarked;
