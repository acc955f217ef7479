/**
 * Schedules: at which instants a recurring job is due. This package depends on java.time alone and is usable without
 * the rest of Foliot: {@link io.foliot.jobs.schedule.CronSchedule#parse} and then
 * {@link io.foliot.jobs.schedule.Schedule#next}.
 */
@NullMarked
package io.foliot.jobs.schedule;

import org.jspecify.annotations.NullMarked;
