package io.foliot.bench.store;

import com.sun.management.OperatingSystemMXBean;
import io.foliot.core.QueueConfig;
import io.foliot.core.Target;
import io.foliot.core.store.Due;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Nodes over one database, and a backlog that comes due at one instant: they are there before it, and share the slots,
 * so that what is measured is neither their start nor what they would take from each other meanwhile.
 */
final class NodesBacklog implements Backlog {
  private static final long LEAST_LEAD_MILLIS = 2_000;
  /** Slower than any of the databases takes them. */
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
    Ledger all = ledger;
    if (all == null) {
      throw new IllegalStateException("no task may begin before all are there: task=" + number);
    }
    all.begun(number);
  }

  @Override
  public void fill(int newTasks) {
    tasks = newTasks;
    dueMillis = System.currentTimeMillis() + LEAST_LEAD_MILLIS + tasks / FILLED_PER_MILLI;
    FoliotNode.fill(nodes.store(), QueueConfig.of(FoliotNode.QUEUE, Target.local()), tasks,
        number -> Due.at(dueMillis));
  }

  /** Waits for the instant at which all come due. */
  @Override
  public void start(Ledger newLedger) throws InterruptedException {
    ledger = newLedger;
    long aheadMillis = dueMillis - System.currentTimeMillis();
    if (aheadMillis <= 0) {
      throw new IllegalStateException("the backlog must be there before it is due: lateMillis=" + -aheadMillis);
    }
    TimeUnit.MILLISECONDS.sleep(aheadMillis);
    begunNanos = System.nanoTime();
    begunCpuNanos = SYSTEM.getProcessCpuTime();
    // It answers for the time since it was asked before.
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

  /**
   * Returns how many processors were busy with this program, the nodes that is, from the due instant until all was
   * done.
   */
  double programProcessors() {
    return programProcessors;
  }

  /** Returns how many processors were busy with anything, the database included. */
  double allProcessors() {
    return allProcessors;
  }

  @Override
  public void close() {
    nodes.close();
  }
}
