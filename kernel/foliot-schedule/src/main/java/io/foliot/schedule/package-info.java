/**
 * Schedules: the instants at which a recurring job runs. This package depends only on the JDK and on JSpecify, so it
 * can be used without the rest of Foliot:
 *
 * <pre>{@code
 * CronSchedule nightly = CronSchedule.parse("0 2 * * MON-FRI", ZoneId.of("Europe/Berlin"));
 * Instant next = nightly.next(Instant.parse("2026-11-23T00:00:00Z"));
 * List<ZonedDateTime> preview = nightly.preview(next, 5);
 * }</pre>
 *
 * <p>{@link io.foliot.schedule.ScheduleSettings} has all settings of a job's schedule, and their rules.
 */
@NullMarked
package io.foliot.schedule;

import org.jspecify.annotations.NullMarked;
