/**
 * The main API for applications: durable delayed tasks in a few lines. {@link io.foliot.Foliot} opens a place where
 * tasks are kept, and {@link io.foliot.Tasks} submits tasks to one queue and handles those that are due.
 */
@NullMarked
package io.foliot;

import org.jspecify.annotations.NullMarked;
