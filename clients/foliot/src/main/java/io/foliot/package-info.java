/**
 * The front door: durable tasks for later in a few lines. {@link io.foliot.Foliot} opens a place where tasks are kept,
 * and {@link io.foliot.Tasks} submits to one queue and handles its due tasks.
 */
@NullMarked
package io.foliot;

import org.jspecify.annotations.NullMarked;
