/** What a store must offer, and the life of a task as every store must live it. */
@NullMarked
package io.foliot.core.store;

import org.jspecify.annotations.NullMarked;
