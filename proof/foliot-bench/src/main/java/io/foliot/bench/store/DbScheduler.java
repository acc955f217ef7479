package io.foliot.bench.store;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.task.AbstractTask;
import com.github.kagkarlsson.scheduler.task.CompletionHandler;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler in a fresh database of a site. The table is the one in db-scheduler's manual. The index for priorities
 * is left out, because no priorities are used here.
 */
final class DbScheduler implements AutoCloseable {
  static final String TABLE = "scheduled_tasks";
  private static final String TASK = "bench";
  private static final String POSTGRES_TABLE = """
      CREATE TABLE scheduled_tasks (
        task_name text NOT NULL, task_instance text NOT NULL, task_data bytea,
        execution_time timestamptz, picked boolean NOT NULL, picked_by text,
        last_success timestamptz, last_failure timestamptz, consecutive_failures integer,
        last_heartbeat timestamptz, version bigint NOT NULL, priority smallint, state text,
        PRIMARY KEY (task_name, task_instance))""";
  private static final String MARIADB_TABLE = """
      CREATE TABLE scheduled_tasks (
        task_name varchar(100) NOT NULL, task_instance varchar(100) NOT NULL, task_data blob,
        execution_time timestamp(6) NULL, picked boolean NOT NULL, picked_by varchar(50),
        last_success timestamp(6) NULL, last_failure timestamp(6) NULL, consecutive_failures integer,
        last_heartbeat timestamp(6) NULL, version bigint NOT NULL, priority smallint, state varchar(100),
        PRIMARY KEY (task_name, task_instance))""";

  private final SqlSite site;
  private final HikariDataSource connections;
  private final AbstractTask<Void> task;
  private final Scheduler scheduler;

  /** Sets the options of the scheduler, such as its threads and its polling. */
  interface Tuning {
    SchedulerBuilder apply(SchedulerBuilder builder);
  }

  /**
   * Creates the scheduler without starting it.
   *
   * @param pool the number of connections
   * @param period the time after which a task runs again; null for tasks that run once
   * @param work called with the number of each task that runs
   */
  DbScheduler(SqlSite site, int pool, Tuning tuning, @Nullable Duration period, IntConsumer work) throws SQLException {
    this.site = site;
    site.fresh();
    site.execute(site instanceof PostgresSite ? POSTGRES_TABLE : MARIADB_TABLE,
        "CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time)",
        "CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)");
    connections = site.pool(pool);
    task = period == null
        ? Tasks.oneTime(TASK).execute((instance, context) -> work.accept(Integer.parseInt(instance.getId())))
        : Tasks.custom(TASK, Void.class).execute((instance, context) -> {
          work.accept(Integer.parseInt(instance.getId()));
          return new CompletionHandler.OnCompleteReschedule<>(FixedDelay.of(period));
        });
    // The timestamp columns in MariaDB have no time zone.
    scheduler = tuning.apply(Scheduler.create(connections, task).alwaysPersistTimestampInUTC()).build();
  }

  Scheduler scheduler() {
    return scheduler;
  }

  /** Returns the task with this number and this due time. */
  SchedulableInstance<Void> at(int number, Instant time) {
    return SchedulableInstance.of(task.instance(Integer.toString(number)), time);
  }

  /** Schedules tasks with consecutive numbers in one call. */
  void scheduleAll(int first, int count, Instant time) {
    List<SchedulableInstance<?>> batch = new ArrayList<>(count);
    for (int number = first; number < first + count; number++) {
      batch.add(at(number, time));
    }
    scheduler.scheduleBatch(batch);
  }

  /** Returns the number of rows that fulfil an SQL condition. */
  long rows(String condition) throws SQLException {
    return site.number("SELECT count(*) FROM " + TABLE + " WHERE " + condition);
  }

  @Override
  public void close() {
    scheduler.stop();
    connections.close();
  }
}
