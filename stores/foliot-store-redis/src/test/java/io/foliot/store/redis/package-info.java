@NullMarked
package io.foliot.store.redis;

import org.jspecify.annotations.NullMarked;
