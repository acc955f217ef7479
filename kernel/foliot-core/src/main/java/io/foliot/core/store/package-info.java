/** The SPI of stores, and the life of a task, which every store must follow. */
@NullMarked
package io.foliot.core.store;

import org.jspecify.annotations.NullMarked;
