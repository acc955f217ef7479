/** The SPI of deliveries. */
@NullMarked
package io.foliot.core.delivery;

import org.jspecify.annotations.NullMarked;
