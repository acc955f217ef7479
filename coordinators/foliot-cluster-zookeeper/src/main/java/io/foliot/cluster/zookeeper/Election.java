package io.foliot.cluster.zookeeper;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.jspecify.annotations.Nullable;

/**
 * A candidacy in the election. The leader is read from ZooKeeper, not asked here: a latch can believe that it leads
 * while its node is gone, and it never checks the node.
 */
final class Election implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Election.class.getName());
  /** A latch makes its node in the background, and says nothing if that fails; then it is given up. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LeaderLatch latch;
  private final long begunNanos;

  /**
   * Enters the election.
   *
   * @param changed called when this candidate begins or ceases to lead, as far as it knows; Curator's thread
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
      throw new IllegalStateException("the election cannot be entered: path=" + path, e);
    }
  }

  /** Returns the name of its node, or null if it has none yet. */
  @Nullable
  String candidate() {
    String path = latch.getOurPath();
    return path == null ? null : path.substring(path.lastIndexOf('/') + 1);
  }

  /**
   * Returns whether it has no node, and will not get one by itself.
   *
   * @param before the result of {@link #candidate} before the candidates were read
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
      LOG.log(System.Logger.Level.DEBUG, "the election was left before it was entered, or without a word", e);
    }
  }
}
