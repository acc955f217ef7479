/** Tests pass null where it is refused, and take lookups for granted. */
@NullUnmarked
package io.foliot.bench.classic;

import org.jspecify.annotations.NullUnmarked;
