/** Tests of the comparison of timers. */
@NullUnmarked
package io.foliot.bench.timer;

import org.jspecify.annotations.NullUnmarked;
