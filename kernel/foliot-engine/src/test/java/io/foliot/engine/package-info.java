/** Tests of the engine and its components. */
@NullUnmarked
package io.foliot.engine;

import org.jspecify.annotations.NullUnmarked;
