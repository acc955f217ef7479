/** Tests of the parts of the engine. */
@NullUnmarked
package io.foliot.core.engine;

import org.jspecify.annotations.NullUnmarked;
