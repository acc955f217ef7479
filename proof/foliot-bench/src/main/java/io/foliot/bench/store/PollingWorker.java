package io.foliot.bench.store;

import static java.util.Objects.requireNonNull;

import io.foliot.api.TaskNote;
import io.foliot.core.Scheduler;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A worker of jobs that polls one node directly, without HTTP. Its waits, leases and extensions are the defaults of
 * {@code JobWorker}. It polls for as many shards as it has room for. A shard that the handler does not end is held, and
 * its lease extended, until the worker dies or stops.
 */
final class PollingWorker {
  /** The default wait of a poll in the client library. */
  static final long WAIT_MILLIS = 5_000;
  /** The default lease in the client library. */
  static final long LEASE_MILLIS = 10_000;
  private static final long EXTEND_MILLIS = LEASE_MILLIS / 3;

  private final String name;
  private final String zone;
  private final Scheduler node;
  private final Handler handler;
  private final Thread poller;
  private final Thread extender;

  // Used by any thread.
  private final Semaphore room;
  private final Map<TaskId, TaskRecord> held = new ConcurrentHashMap<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean over;
  private volatile boolean dead;

  /** Called for each shard that begins. */
  @FunctionalInterface
  interface Handler {
    /** Returns whether the shard ends at once; else the worker holds it. */
    boolean begun(PollingWorker worker, TaskRecord shard);
  }

  PollingWorker(String name, String zone, Scheduler node, int concurrency, Handler handler) {
    this.name = name;
    this.zone = zone;
    this.node = node;
    this.handler = handler;
    room = new Semaphore(concurrency);
    poller = Thread.ofVirtual().name(name).start(this::poll);
    extender = Thread.ofVirtual().name(name + "-extends").start(this::extend);
  }

  String name() {
    return name;
  }

  /** Returns the number of the worker's seat, or -1 if the node has not read a seat of this worker. */
  int seat() {
    var seat = node.fleet().seatOf(name);
    return seat == null ? -1 : seat.number();
  }

  private void poll() {
    try {
      while (!over) {
        room.acquire();
        int free = Math.min(Scheduler.Pull.MAX_TASKS, 1 + room.drainPermits());
        CompletableFuture<List<TaskRecord>> polled = node
            .pull(new Scheduler.Pull(WorkerCluster.QUEUE, free, WAIT_MILLIS, LEASE_MILLIS, name, zone));
        List<TaskRecord> tasks = FoliotNode.await(polled);
        room.release(free - tasks.size());
        for (TaskRecord task : tasks) {
          if (!over) {
            begin(task);
          } else if (!dead) {
            giveBack(task);
          }
        }
      }
    } catch (InterruptedException e) {
      // The worker died or stopped while it had no room.
      Thread.currentThread().interrupt();
    } catch (CancellationException | CompletionException e) {
      failed(e);
    }
  }

  private void begin(TaskRecord task) {
    if (!handler.begun(this, task)) {
      held.put(task.id(), task);
      return;
    }
    CompletableFuture<?> unused = node.ack(task.id(), requireNonNull(task.token()), null)
        .whenComplete((answer, problem) -> {
          room.release();
          if (problem != null || answer.kind() != SettleResult.Kind.SETTLED) {
            failed(
                problem != null
                    ? problem
                    : new IllegalStateException("each shard must end by its first ack: " + answer));
          }
        });
  }

  private void extend() {
    try {
      while (!over) {
        TimeUnit.MILLISECONDS.sleep(EXTEND_MILLIS);
        for (TaskRecord task : held.values()) {
          if (!over) {
            FoliotNode.await(node.extend(task.id(), requireNonNull(task.token()), Duration.ofMillis(LEASE_MILLIS),
                TaskNote.NONE));
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (CancellationException | CompletionException e) {
      failed(e);
    }
  }

  private void failed(Throwable problem) {
    if (!over) {
      failure.compareAndSet(null, problem);
    }
  }

  int held() {
    return held.size();
  }

  /** Ends like a killed process: the node is not informed, and a poll under way remains pending at the node. */
  void die() {
    dead = true;
    end();
  }

  /** Stops as {@code JobWorker} does: informs the node, and gives back the shards that the worker holds. */
  void stop() {
    end();
    node.left(WorkerId.of(name), WorkerCluster.QUEUE);
    for (TaskRecord task : held.values()) {
      giveBack(task);
    }
  }

  private void giveBack(TaskRecord task) {
    FoliotNode.await(node.nack(task.id(), requireNonNull(task.token()), Duration.ZERO, "the worker stopped"));
  }

  private void end() {
    over = true;
    poller.interrupt();
    extender.interrupt();
  }

  /** Fails if a call of the worker has failed. */
  void ensureWorked() {
    Throwable problem = failure.get();
    if (problem != null) {
      throw new IllegalStateException("a worker's calls must succeed: worker=" + name, problem);
    }
  }
}
