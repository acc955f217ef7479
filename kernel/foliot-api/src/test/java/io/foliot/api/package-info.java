/** Tests of the types of the domain. */
@NullUnmarked
package io.foliot.api;

import org.jspecify.annotations.NullUnmarked;
