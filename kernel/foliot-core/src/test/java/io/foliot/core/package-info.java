/** Tests of the types of the domain. */
@NullUnmarked
package io.foliot.core;

import org.jspecify.annotations.NullUnmarked;
