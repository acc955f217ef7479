/** The store on Redis: sorted sets and hashes per slot, one script per step; standalone, Sentinel, Cluster. */
@NullMarked
package io.foliot.store.redis;

import org.jspecify.annotations.NullMarked;
