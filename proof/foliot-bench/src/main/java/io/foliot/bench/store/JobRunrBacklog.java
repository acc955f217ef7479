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
 * JobRunr on PostgreSQL. Its jobs are enqueued, not scheduled for an instant that has passed, which spares it the step
 * from one to the other.
 */
final class JobRunrBacklog implements Backlog {
  /**
   * The best of 8 to 512 workers with 8 to 64 connections on two processors. It takes no more jobs at once than it has
   * workers free, and has 16 for each processor unless told otherwise.
   */
  static final int TUNED_WORKERS = 256;
  private static final int POOL = 16;
  /** The shortest it permits; a worker that becomes free asks for more before that. */
  private static final Duration POLL = Duration.ofSeconds(5);
  private static final int BATCH = 1_000;

  private final SqlSite site;
  private final HikariDataSource connections;
  private final PostgresStorageProvider storage;
  private final JobRequestScheduler scheduler;
  private final BackgroundJobServer server;
  private volatile @Nullable Ledger ledger;

  /**
   * With threads of its default kind, which are virtual ones.
   *
   * @param workers how many tasks it runs at once; 0 for its default
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
      Ledger told = ledger;
      if (told == null) {
        throw new IllegalStateException("no task runs before the start: task=" + job.number());
      }
      told.begun(job.number());
    };
    BackgroundJobServerConfiguration configuration = usingStandardBackgroundJobServerConfiguration()
        .andPollInterval(POLL);
    server = new BackgroundJobServer(storage, json, new One(new Handler(handler)),
        workers == 0 ? configuration : configuration.andWorkerCount(workers));
  }

  /**
   * A task; public, as JobRunr makes it anew from JSON.
   *
   * @param number which
   */
  public record Noop(int number) implements JobRequest {
    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** The handler as JobRunr knows it. */
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

  /** A job with one handler. */
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
