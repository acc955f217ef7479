/** Tests of the store on Redis. */
@NullMarked
package io.foliot.store.redis;

import org.jspecify.annotations.NullMarked;
