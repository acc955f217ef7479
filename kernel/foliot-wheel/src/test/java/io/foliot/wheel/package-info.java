/** Tests pass null where it is refused, and take maps for granted. */
@NullUnmarked
package io.foliot.wheel;

import org.jspecify.annotations.NullUnmarked;
