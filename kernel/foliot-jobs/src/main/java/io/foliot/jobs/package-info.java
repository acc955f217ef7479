/**
 * Recurring jobs. Each job is one task: the payload is a {@link io.foliot.jobs.JobRecord}, and the attempts are
 * planning passes.
 */
@org.jspecify.annotations.NullMarked
package io.foliot.jobs;
