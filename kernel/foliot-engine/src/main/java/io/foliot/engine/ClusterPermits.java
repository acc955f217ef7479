package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.api.TaskState;
import io.foliot.core.Stages;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Extension;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.UnreadableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * This node's part in limits that hold for the whole cluster. It maintains the node's entry in the {@link PermitRecord}
 * of each limited queue that the node serves, and grants permits to the queue's {@link Permits}.
 *
 * <p>A node may use its permits for five seconds by the store's clock. Each claim carries the end of that time, and the
 * store refuses the claim afterwards. So a paused or disconnected node claims nothing under permits that other nodes
 * have taken. The running attempts of a dead node keep their permits until the leases of these attempts end.
 *
 * <p>The node reads the records once a second, and sooner when a task waits for a permit, but then not
 * within {@link #REST_NANOS} of the previous answer. There is one read at a time. Confined to the first loop's thread,
 * except {@link #requestPermits} and {@link #leave(long)}.
 */
final class ClusterPermits {
  private static final System.Logger LOG = System.getLogger(ClusterPermits.class.getName());
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long READ_NANOS = 1_000 * NANOS_PER_MILLI;
  /** Minimum pause before a read within the interval: a lost race is retried soon, but never in a busy loop. */
  private static final long REST_NANOS = 20 * NANOS_PER_MILLI;
  private static final long VALID_MILLIS = 5_000;
  /**
   * Longest remaining validity of a holder's permits. It exceeds {@link #VALID_MILLIS}, because nodes estimate the
   * store's clock a little differently. If a record has a longer time, the store's clock was set back.
   */
  private static final long LATEST_MILLIS = 2 * VALID_MILLIS;
  /** Shortest remaining validity of permits: if less remains, the node extends it. */
  private static final long RENEW_MILLIS = 2_500;
  /** Grace for a claim that was accepted before its deadline but not yet written. */
  private static final long SETTLED_MILLIS = 5_000;
  /** Time after which unused permits are returned, so that an idle queue costs nothing. */
  private static final long IDLE_NANOS = 5_000 * NANOS_PER_MILLI;
  private static final int PAGE = 1_000;

  private final TaskStore store;
  private final QueueRegistry registry;
  private final String node;
  private final long instance;
  private final TimeSource clock;
  private final Inbox inbox;

  // any thread
  private final AtomicBoolean isRequested = new AtomicBoolean();

  // the loop's thread
  private final Map<String, Long> wantedNanos = new HashMap<>();
  private int underWay;
  private long readNanos;
  private long restUntilNanos;
  private boolean isUnsettled;
  private @Nullable CompletableFuture<Void> leaving;
  private long leaveUntilNanos;

  /**
   * Creates the permits of a node that holds none yet.
   *
   * @param instance a number that identifies this start of the node
   * @param inbox the inbox of the first loop
   */
  ClusterPermits(TaskStore store, TimeSource clock, QueueRegistry registry, String node, long instance, Inbox inbox) {
    this.store = store;
    this.clock = clock;
    this.registry = registry;
    this.node = node;
    this.instance = instance;
    this.inbox = inbox;
  }

  /** Requests a read of the records soon, because a task waits for a permit. Any thread may call this method. */
  void requestPermits() {
    if (isRequested.compareAndSet(false, true)) {
      inbox.wake();
    }
  }

  /** Reads the records, if a permit is needed or the interval is over. After {@link #leave(long)}, reads nothing. */
  void turn(long nowNanos) {
    if (leaving != null) {
      if (nowNanos - leaveUntilNanos >= 0) {
        leaving.complete(null);
      }
      return;
    }
    boolean soon = (isRequested.get() || isUnsettled) && nowNanos - restUntilNanos >= 0;
    if (underWay > 0 || !(soon || nowNanos - readNanos >= 0)) {
      return;
    }
    readNanos = nowNanos + READ_NANOS;
    boolean limits = registry.queues().stream().anyMatch(ClusterPermits::isLimited);
    if (!limits) {
      return;
    }
    isRequested.set(false);
    isUnsettled = false;
    underWay = 1;
    inbox.after(Stages.call(() -> store.documents(DocumentKind.PERMITS)), (documents, failure, answeredNanos) -> {
      ended(documents != null);
      if (documents != null) {
        update(documents);
      }
    });
  }

  /**
   * Reads the store's clock before the records are updated. After a pause, this node's estimate of that clock may be
   * behind. With such an estimate, {@link PermitRecord#noLaterThan} would shorten the validity of other nodes' permits.
   */
  private void update(List<Document> documents) {
    underWay++;
    long sentNanos = clock.monotonicNanos();
    inbox.after(Stages.call(() -> store.timeMicros(0)), (micros, failure, nowNanos) -> {
      ended(micros != null);
      if (micros != null) {
        update(documents, new Instant(Math.floorDiv(micros, 1_000), sentNanos));
      }
    });
  }

  /**
   * A value of the store's clock, and a monotonic time that was read before it. Monotonic times that are computed from
   * the pair may be too early, but not too late.
   *
   * @param millis the value of the store's clock, in milliseconds since 1970
   * @param nanos the monotonic time before that value was read
   */
  private record Instant(long millis, long nanos) {
    long nanosOf(long storeMillis) {
      return nanos + (storeMillis - millis) * NANOS_PER_MILLI;
    }
  }

  private static boolean isLimited(QueueConfig queue) {
    return queue.concurrency() != null || queue.rate() != null;
  }

  /** Records that a call has ended. After a failure the records are read again at the usual interval, no sooner. */
  private void ended(boolean answered) {
    underWay--;
    restUntilNanos = clock.monotonicNanos() + (answered ? REST_NANOS : READ_NANOS);
  }

  private void update(List<Document> documents, Instant now) {
    Map<String, Document> byQueue = new HashMap<>();
    documents.forEach(document -> byQueue.put(document.name(), document));
    for (QueueConfig queue : registry.queues()) {
      if (isLimited(queue)) {
        update(queue, byQueue.remove(queue.name()), now);
      }
    }
    byQueue.forEach((queue, document) -> tidy(queue, document, now.millis()));
  }

  /**
   * Removes the record of a queue that is gone or has no limits any more. The record stays until {@link
   * #SETTLED_MILLIS} after the permits of all its holders have become invalid.
   */
  private void tidy(String queue, Document document, long now) {
    wantedNanos.remove(queue);
    PermitRecord record = decoded(queue, document);
    if (record != null && record.holders().stream().allMatch(holder -> holder.untilMillis() + SETTLED_MILLIS < now)) {
      write(queue, document, PermitRecord.EMPTY, () -> {});
    }
  }

  private static @Nullable PermitRecord decoded(String queue, @Nullable Document document) {
    try {
      return document == null ? PermitRecord.EMPTY : PermitRecord.decode(document.content());
    } catch (UnreadableException e) {
      LOG.log(System.Logger.Level.ERROR,
          "cannot read the permits of a queue; this node uses none of them: queue=" + queue, e);
      return null;
    }
  }

  private void update(QueueConfig queue, @Nullable Document document, Instant at) {
    PermitRecord read = decoded(queue.name(), document);
    if (read == null) {
      return;
    }
    long now = at.millis();
    long nowNanos = clock.monotonicNanos();
    PermitRecord record = read.noLaterThan(now + LATEST_MILLIS);
    boolean isSetBack = !record.equals(read);
    Permits permits = registry.shared(queue.name()).permits();
    int wants = permits.wants(nowNanos);
    PermitRecord.Holder known = record.holder(instance);
    if (wants > 0) {
      wantedNanos.put(queue.name(), nowNanos);
    } else if (known == null) {
      return;
    }
    PermitRecord.Holder mine = known == null ? new PermitRecord.Holder(instance, node, 0, 0, 0, 0) : known;
    boolean isIdle = wants == 0
        && nowNanos - wantedNanos.getOrDefault(queue.name(), nowNanos - IDLE_NANOS) >= IDLE_NANOS
        && permits.giveUp();
    int limit = queue.concurrency() == null ? Integer.MAX_VALUE : queue.concurrency();
    PermitRecord.Holder wish = new PermitRecord.Holder(instance, node, isIdle ? 0 : mine.permits(),
        isIdle ? 0 : mine.rateParts(), wants, mine.untilMillis());
    PermitRecord.Holder target = isIdle ? wish : record.next(wish, limit, queue.rate() != null, now);
    int inUse = permits.lower(target.permits(), rate(target), nowNanos);
    int taken = Math.max(target.permits(), Math.min(inUse, mine.permits()));
    isUnsettled |= taken > target.permits();
    boolean same = !isSetBack && taken == mine.permits() && target.rateParts() == mine.rateParts()
        && isAlike(wants, mine.wants());
    if (same && mine.untilMillis() - now >= RENEW_MILLIS) {
      grant(permits, target, mine.untilMillis(), at);
    } else if (!same || wants > 0 || taken > 0) {
      PermitRecord.Holder next = new PermitRecord.Holder(instance, node, taken, target.rateParts(), wants,
          now + VALID_MILLIS);
      write(queue.name(), document, record.with(next), () -> grant(permits, target, next.untilMillis(), at));
    }
    if (wants > taken || (queue.rate() != null && target.rateParts() < PermitRecord.RATE_PARTS)) {
      reclaim(queue.name(), document, record, now);
    }
  }

  /**
   * Returns whether two demands are so similar that the difference is not worth a write. They are similar if both are
   * zero, or if they differ by at most a factor of two.
   */
  private static boolean isAlike(int wants, int before) {
    return (wants > 0) == (before > 0) && wants <= 2 * before && before <= 2 * wants;
  }

  private static double rate(PermitRecord.Holder holder) {
    return (double) holder.rateParts() / PermitRecord.RATE_PARTS;
  }

  private void grant(Permits permits, PermitRecord.Holder target, long untilMillis, Instant at) {
    permits.grant(target.permits(), rate(target), untilMillis, at.nanosOf(untilMillis), clock.monotonicNanos());
  }

  private void write(String queue, @Nullable Document document, PermitRecord record, Runnable written) {
    underWay++;
    byte[] content = record.holders().isEmpty() ? null : record.encode();
    long version = document == null ? 0 : document.version();
    inbox.after(Stages.call(() -> store.writeDocument(DocumentKind.PERMITS, queue, version, content)),
        (done, failure, nowNanos) -> {
          ended(done != null);
          if (done != null && done) {
            written.run();
          } else {
            // Another node wrote first, or the call failed and may have written; the next read shows which.
            isUnsettled = true;
          }
        });
  }

  /**
   * Removes other holders, {@link #SETTLED_MILLIS} after their permits have become invalid. Frees their permits, except
   * one for each attempt that still runs.
   */
  private void reclaim(String queue, @Nullable Document document, PermitRecord record, long now) {
    List<PermitRecord.Holder> gone = record.holders().stream()
        .filter(holder -> holder.instance() != instance && holder.untilMillis() + SETTLED_MILLIS < now).toList();
    if (gone.isEmpty()) {
      return;
    }
    int permits = gone.stream().mapToInt(PermitRecord.Holder::permits).sum();
    long untilMillis = gone.stream().mapToLong(PermitRecord.Holder::untilMillis).max().orElseThrow();
    underWay++;
    inbox.after(permits == 0 ? CompletableFuture.completedFuture(0) : running(queue, untilMillis, now),
        (running, failure, nowNanos) -> {
          ended(running != null);
          if (running == null) {
            return;
          }
          PermitRecord rest = record.without(gone, running);
          if (!rest.equals(record)) {
            LOG.log(System.Logger.Level.INFO,
                "nodes are gone; reclaiming the permits that they held: queue={0},"
                    + " permits={1}, stillRunning={2}",
                queue, permits, Math.min(permits, running));
            write(queue, document, rest, () -> isUnsettled = true);
          }
        });
  }

  /**
   * Counts the attempts of all nodes that were claimed no later than {@code untilMillis}, and whose leases have not
   * ended. The ended leases are closed, so that no extension that is under way makes one of them valid again.
   */
  private CompletionStage<Integer> running(String queue, long untilMillis, long now) {
    AtomicInteger running = new AtomicInteger();
    return Stages.pages(cursor -> store.query(queue, TaskState.RUNNING, PAGE, cursor).thenCompose(page -> {
      List<Extension> closings = new ArrayList<>();
      for (TaskRecord task : page.tasks()) {
        Token token = task.token();
        if (task.claimedAt() <= untilMillis && token != null && task.settledAs() == null) {
          if (task.leaseEnd() > now) {
            running.incrementAndGet();
          } else {
            closings.add(new Extension(task.id(), token, 0));
          }
        }
      }
      return unclosed(closings).thenApply(left -> {
        running.addAndGet(left);
        return Optional.ofNullable(page.cursor());
      });
    })).thenApply(done -> running.get());
  }

  /** Closes leases, and returns the number of those that have not ended. */
  private CompletionStage<Integer> unclosed(List<Extension> closings) {
    return closings.isEmpty()
        ? CompletableFuture.completedFuture(0)
        : Stages.call(() -> store.extend(closings))
            .thenApply(results -> (int) results.stream().filter(result -> result.leaseEnd() != 0).count());
  }

  /**
   * Gives up the permits of each queue that has no attempt on this node. The permits of a queue with attempts stay
   * until other nodes reclaim them. The future completes when the writes have ended, even with a failure, or at
   * {@code untilNanos}. Any thread may call this method.
   */
  CompletableFuture<Void> leave(long untilNanos) {
    CompletableFuture<Void> left = new CompletableFuture<>();
    inbox.post(nowNanos -> {
      leaving = left;
      leaveUntilNanos = untilNanos;
      leave(left);
    });
    return left;
  }

  private void leave(CompletableFuture<Void> left) {
    inbox.after(Stages.call(() -> store.documents(DocumentKind.PERMITS)), (documents, failure, nowNanos) -> {
      List<CompletableFuture<Boolean>> writes = new ArrayList<>();
      for (Document document : documents == null ? List.<Document>of() : documents) {
        PermitRecord record = decoded(document.name(), document);
        PermitRecord.Holder mine = record == null ? null : record.holder(instance);
        if (record != null && mine != null && registry.shared(document.name()).permits().giveUp()) {
          PermitRecord rest = record.with(new PermitRecord.Holder(instance, node, 0, 0, 0, 0));
          writes.add(
              Stages.call(() -> store.writeDocument(DocumentKind.PERMITS, document.name(), document.version(),
                  rest.holders().isEmpty() ? null : rest.encode())).toCompletableFuture());
        }
      }
      var allWritten = CompletableFuture.allOf(writes.toArray(CompletableFuture<?>[]::new))
          .whenComplete((done, failed) -> left.complete(null));
      assert allWritten != null;
    });
  }
}
