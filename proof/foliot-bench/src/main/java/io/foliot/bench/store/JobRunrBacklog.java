package io.foliot.bench.store;

import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.stream.IntStream;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;
import org.jspecify.annotations.Nullable;

/**
 * JobRunr on PostgreSQL. Its jobs are enqueued directly. This is cheaper for JobRunr than jobs that are scheduled for a
 * past instant. JobRunr would have to enqueue such jobs first.
 */
final class JobRunrBacklog implements Backlog {
  /**
   * The fastest number of workers on two processors. The candidates were 8 to 512 workers, with 8 to 64 connections.
   * JobRunr claims at most as many jobs as it has free workers. Its default is 16 workers for each processor.
   */
  static final int TUNED_WORKERS = 256;
  private static final int POOL = 16;
  /** The shortest interval that JobRunr permits. Workers that become free claim more jobs before the next poll. */
  private static final Duration POLL = Duration.ofSeconds(5);
  private static final int BATCH = 1_000;

  private final SqlSite site;
  private final HikariDataSource connections;
  private final PostgresStorageProvider storage;
  private final JobRequestScheduler scheduler;
  private final BackgroundJobServer server;
  private volatile @Nullable Ledger ledger;

  /**
   * Creates the server with JobRunr's default kind of threads, which is virtual threads.
   *
   * @param workers how many tasks run at the same time; 0 for JobRunr's default
   */
  JobRunrBacklog(SqlSite site, int workers) throws SQLException {
    this.site = site;
    site.fresh();
    connections = site.pool(POOL);
    JsonMapper json = new Jackson3JsonMapper();
    storage = new PostgresStorageProvider(connections);
    storage.setJobMapper(new JobMapper(json));
    scheduler = new JobRequestScheduler(storage);
    JobRequestHandler<Noop> handler = job -> {
      Ledger current = ledger;
      if (current == null) {
        throw new IllegalStateException("no task may run before the start: task=" + job.number());
      }
      current.begun(job.number());
    };
    BackgroundJobServerConfiguration configuration = usingStandardBackgroundJobServerConfiguration()
        .andPollInterval(POLL);
    server = new BackgroundJobServer(storage, json, new One(new Handler(handler)),
        workers == 0 ? configuration : configuration.andWorkerCount(workers));
  }

  /**
   * A task that does nothing. It is public, because JobRunr creates it from JSON.
   *
   * @param number the number of the task
   */
  public record Noop(int number) implements JobRequest {
    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** The handler. {@link Noop} names its class to JobRunr. */
  public static final class Handler implements JobRequestHandler<Noop> {
    private final JobRequestHandler<Noop> handler;

    private Handler(JobRequestHandler<Noop> handler) {
      this.handler = handler;
    }

    @Override
    public void run(Noop job) throws Exception {
      handler.run(job);
    }
  }

  /** Gives JobRunr the instance of the handler. */
  private record One(Handler handler) implements JobActivator {
    @Override
    public <T> T activateJob(Class<T> type) {
      return type.cast(handler);
    }
  }

  @Override
  public void fill(int tasks) {
    for (int first = 0; first < tasks; first += BATCH) {
      scheduler.enqueue(IntStream.range(first, Math.min(first + BATCH, tasks)).mapToObj(Noop::new));
    }
  }

  @Override
  public void start(Ledger newLedger) {
    ledger = newLedger;
    server.start();
  }

  @Override
  public boolean isDone() throws SQLException {
    return site.number("SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'") == 0;
  }

  @Override
  public void close() {
    server.stop();
    scheduler.shutdown();
    storage.close();
    connections.close();
  }
}
