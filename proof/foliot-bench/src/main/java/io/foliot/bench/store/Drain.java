package io.foliot.bench.store;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the drain of a backlog, from the beginning of the first task until the ends of all tasks are durable. The
 * start of the scheduler is not included.
 */
final class Drain implements Contender {
  private static final Duration BOUND = Duration.ofMinutes(2);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final String name;
  private final double share;
  private final Site site;
  private final Maker<Backlog> backlogs;

  /**
   * Creates a contender.
   *
   * @param share the factor for the number of tasks of a round, so that all contenders take about the same time
   */
  Drain(String name, double share, Site site, Maker<Backlog> backlogs) {
    this.name = name;
    this.share = share;
    this.site = site;
    this.backlogs = backlogs;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Rate round(Work work) throws Exception {
    try (Backlog backlog = backlogs.make()) {
      return drain(backlog, work.times(share).tasks(), site);
    }
  }

  /** Fills a backlog, drains it, and returns the rate. Leaves the scheduler running. */
  static Rate drain(Backlog backlog, int tasks, Site site) throws Exception {
    Ledger ledger = new Ledger(tasks);
    backlog.fill(tasks);
    site.settle();
    backlog.start(ledger);
    ledger.await(BOUND);
    awaitDone(backlog);
    long nanos = System.nanoTime() - ledger.firstNanos();
    backlog.ensureDone(tasks);
    ledger.ensureEachOnce();
    return new Rate(tasks, nanos);
  }

  private static void awaitDone(Backlog backlog) throws Exception {
    long begun = System.nanoTime();
    while (!backlog.isDone()) {
      if (System.nanoTime() - begun > BOUND.toNanos()) {
        throw new IllegalStateException("all tasks that began must end in time: bound=" + BOUND);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
