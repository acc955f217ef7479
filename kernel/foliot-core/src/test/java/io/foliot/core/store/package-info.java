/** Tests of generations, and of the capabilities of stores. */
@NullUnmarked
package io.foliot.core.store;

import org.jspecify.annotations.NullUnmarked;
