/** Tests of the parts of the engine. */
@NullUnmarked
package io.foliot.engine;

import org.jspecify.annotations.NullUnmarked;
