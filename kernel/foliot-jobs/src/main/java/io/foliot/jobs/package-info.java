/**
 * Recurring jobs. A job is one task whose payload is a {@link io.foliot.jobs.JobRecord}, and whose attempts are
 * planning passes.
 */
@org.jspecify.annotations.NullMarked
package io.foliot.jobs;
