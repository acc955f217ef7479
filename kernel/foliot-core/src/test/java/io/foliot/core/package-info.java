/** Tests of the words, and of the module's borders. */
@NullUnmarked
package io.foliot.core;

import org.jspecify.annotations.NullUnmarked;
