/** Tests of deliveries. */
@NullUnmarked
package io.foliot.core.delivery;

import org.jspecify.annotations.NullUnmarked;
