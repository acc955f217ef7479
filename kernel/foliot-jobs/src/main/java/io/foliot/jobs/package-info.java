/**
 * Recurring jobs: a job is one task whose payload is a {@link io.foliot.jobs.JobRecord}, and whose attempts plan.
 */
@org.jspecify.annotations.NullMarked
package io.foliot.jobs;
