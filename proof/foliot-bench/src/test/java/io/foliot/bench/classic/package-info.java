/** Tests of the classic timer structures. */
@NullUnmarked
package io.foliot.bench.classic;

import org.jspecify.annotations.NullUnmarked;
