package io.foliot.bench.store;

import com.sun.management.OperatingSystemMXBean;
import io.foliot.api.Due;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Nodes over one database, and a backlog that becomes due at one instant. The nodes start and share the slots before
 * that instant, so the figures do not include the start.
 */
final class NodesBacklog implements Backlog {
  /** Constant part of the time from the first insert to the due instant. */
  private static final long LEAST_LEAD_MILLIS = 2_000;
  /** Assumed inserts per millisecond, fewer than any of the databases reaches. */
  private static final int FILLED_PER_MILLI = 40;
  private static final OperatingSystemMXBean SYSTEM = ManagementFactory
      .getPlatformMXBean(OperatingSystemMXBean.class);

  private final Nodes nodes;
  private volatile @Nullable Ledger ledger;
  private int tasks;
  private long dueMillis;
  private long begunNanos;
  private long begunCpuNanos;
  private double programProcessors;
  private double allProcessors;

  NodesBacklog(SqlSite site, Nodes.Kind kind) throws Exception {
    nodes = new Nodes(site, kind, this::begun);
  }

  private void begun(int number) {
    Ledger current = ledger;
    if (current == null) {
      throw new IllegalStateException("no task may begin before the start: task=" + number);
    }
    current.begun(number);
  }

  @Override
  public void fill(int newTasks) {
    tasks = newTasks;
    dueMillis = System.currentTimeMillis() + LEAST_LEAD_MILLIS + tasks / FILLED_PER_MILLI;
    FoliotNode.fill(nodes.store(), QueueConfig.of(FoliotNode.QUEUE, Target.local()), tasks,
        number -> Due.at(dueMillis));
  }

  /** Waits for the instant at which all tasks become due. */
  @Override
  public void start(Ledger newLedger) throws InterruptedException {
    ledger = newLedger;
    long aheadMillis = dueMillis - System.currentTimeMillis();
    if (aheadMillis <= 0) {
      throw new IllegalStateException("the backlog must be complete before it is due: lateMillis=" + -aheadMillis);
    }
    TimeUnit.MILLISECONDS.sleep(aheadMillis);
    begunNanos = System.nanoTime();
    begunCpuNanos = SYSTEM.getProcessCpuTime();
    // The next call returns the load since this one.
    SYSTEM.getCpuLoad();
  }

  @Override
  public boolean isDone() {
    boolean isDone = nodes.tally().finished() >= tasks;
    if (isDone) {
      programProcessors = (SYSTEM.getProcessCpuTime() - begunCpuNanos) / (double) (System.nanoTime() - begunNanos);
      allProcessors = SYSTEM.getCpuLoad() * Runtime.getRuntime().availableProcessors();
    }
    return isDone;
  }

  @Override
  public void ensureDone(int drained) {
    nodes.ensureFinished(drained);
  }

  ClaimTally tally() {
    return nodes.tally();
  }

  /** Returns how many processors this process used on average, from the due instant until all tasks ended. */
  double programProcessors() {
    return programProcessors;
  }

  /** Returns how many processors all processes, including the database, used on average in the same time. */
  double allProcessors() {
    return allProcessors;
  }

  @Override
  public void close() {
    nodes.close();
  }
}
