/** Tests take lookups for granted. */
@NullUnmarked
package io.foliot.bench.timer;

import org.jspecify.annotations.NullUnmarked;
