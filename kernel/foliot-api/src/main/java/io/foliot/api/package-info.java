/**
 * The vocabulary of Foliot: jobs with their settings, the states and results of tasks, and the texts of durations and
 * instants. All other modules use these types.
 *
 * <p>{@link io.foliot.api.Fields} is the table of the fields of an object. The readers and writers of JSON, the options
 * of the command line and the values in Java follow from it.
 */
@NullMarked
package io.foliot.api;

import org.jspecify.annotations.NullMarked;
