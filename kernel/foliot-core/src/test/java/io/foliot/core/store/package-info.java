/** Tests of the life of a task. */
@NullUnmarked
package io.foliot.core.store;

import org.jspecify.annotations.NullUnmarked;
