/**
 * The store on Redis: one server, servers behind Sentinel, or a cluster. {@link RedisStore} is the entry point. The
 * tasks are divided into parts, each with its sorted sets and hashes ({@code Partitions}). Most calls run one script in
 * each part that they concern.
 */
@NullMarked
package io.foliot.store.redis;

import org.jspecify.annotations.NullMarked;
