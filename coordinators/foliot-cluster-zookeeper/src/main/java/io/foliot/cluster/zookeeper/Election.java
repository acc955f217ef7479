package io.foliot.cluster.zookeeper;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.jspecify.annotations.Nullable;

/**
 * A candidacy in the election. The leader is read from ZooKeeper, not from this class: a Curator latch can report that
 * it leads although its znode is gone, because it never checks the znode.
 */
final class Election implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Election.class.getName());
  /**
   * Time after which a latch without a znode is replaced, counted from its entry into the election. A latch
   * creates its znode in the background, and does not report a failure to create it.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LeaderLatch latch;
  private final long begunNanos;

  /**
   * Enters the election.
   *
   * @param changed called on Curator's thread when the latch reports that this candidate begins or ceases to lead
   */
  Election(Ensemble ensemble, String path, String node, Runnable changed, long nowNanos) {
    latch = ensemble.latch(path, node);
    begunNanos = nowNanos;
    latch.addListener(new LeaderLatchListener() {
      @Override
      public void isLeader() {
        changed.run();
      }

      @Override
      public void notLeader() {
        changed.run();
      }
    });
    try {
      latch.start();
    } catch (Exception e) {
      throw new IllegalStateException("cannot enter the election: path=" + path, e);
    }
  }

  /** Returns the name of this candidate's znode, or null if the znode has not been created yet. */
  @Nullable
  String candidate() {
    String path = latch.getOurPath();
    return path == null ? null : path.substring(path.lastIndexOf('/') + 1);
  }

  /**
   * Returns whether this candidate has lost its znode, or its latch has failed to create one in time.
   *
   * @param before the name that {@link #candidate} returned just before the candidates were read from ZooKeeper
   * @param candidates the names of all candidates' znodes that ZooKeeper then returned
   */
  boolean isLost(@Nullable String before, List<String> candidates, long nowNanos) {
    String now = candidate();
    return now == null
        ? before == null && nowNanos - begunNanos > PATIENCE_NANOS
        : now.equals(before) && !candidates.contains(before);
  }

  /** Leaves the election, without waiting for ZooKeeper. */
  @Override
  public void close() {
    try {
      latch.close();
    } catch (IOException | IllegalStateException e) {
      LOG.log(System.Logger.Level.DEBUG, "cannot close the candidacy cleanly; its znode ends with the session", e);
    }
  }
}
