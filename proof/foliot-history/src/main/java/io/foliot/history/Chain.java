package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The firings of one key, or of one task without a key, in order of their generations, and the operations on them. */
final class Chain {
  private static final OperationIndex NOTHING = OperationIndex.byEffect(List.of());

  /** The cancels that name one target: the key of the chain, or one of its tasks. */
  private static final class Cancels {
    /** Cancels with the answer CANCELLED. */
    final List<Operation> cancelled = new ArrayList<>();

    /** Cancels with the answer CANCEL_PENDING. */
    final List<Operation> pending = new ArrayList<>();

    /**
     * Cancels that may have ended a firing: those without an answer, those with the answer CANCEL_PENDING, and those
     * whose answer CANCELLED names no generation.
     */
    final List<Operation> possible = new ArrayList<>();

    OperationIndex cancelledByInvocation = NOTHING;
    OperationIndex pendingByInvocation = NOTHING;
    OperationIndex possibleByEffect = NOTHING;

    void seal() {
      cancelledByInvocation = OperationIndex.byInvocation(cancelled);
      pendingByInvocation = OperationIndex.byInvocation(pending);
      possibleByEffect = OperationIndex.byEffect(possible);
    }
  }

  /**
   * Stands for the queue name of a task if no event shows the queue and the key of the task. Such a task may have a
   * key.
   */
  static final String UNKNOWN = "";

  final String queue;
  final @Nullable String key;
  final List<Firing> firings = new ArrayList<>();

  /** Operations that may have made a firing, although their answer, if any, does not name it. */
  final List<Operation> makers = new ArrayList<>();

  /** Operations whose answer says that there was no task, or no live task. */
  final List<Operation> denials = new ArrayList<>();

  /** Operations whose answer names the live generation, which another operation made. */
  final List<Operation> statements = new ArrayList<>();

  private final Map<Target, Cancels> cancels = new HashMap<>();
  private final Map<Firing, Firing> firingOf = new HashMap<>();
  private final Map<Long, Firing> byGeneration = new HashMap<>();
  private OperationIndex makersByEffect = NOTHING;
  private OperationIndex redrivesByEffect = NOTHING;
  private List<Operation> redrives = List.of();
  private long clockErrorMillis;

  Chain(String queue, @Nullable String key) {
    this.queue = queue;
    this.key = key;
  }

  Firing firing(String taskId, long generation) {
    return firingOf.computeIfAbsent(new Firing(taskId, generation), firing -> {
      firings.add(firing);
      byGeneration.putIfAbsent(generation, firing);
      return firing;
    });
  }

  /** Records a cancel with the answer CANCELLED for the firing of a generation. Has no effect without such a firing. */
  void cancel(long generation, Operation cancel) {
    Firing firing = byGeneration.get(generation);
    if (firing != null) {
      firing.cancel(cancel);
    }
  }

  void add(Target target, Operation cancel) {
    Cancels same = cancels.computeIfAbsent(target, t -> new Cancels());
    if (!(cancel.reply() instanceof Reply.Cancelled(Reply.CancelResult result, long generation))) {
      same.possible.add(cancel);
    } else if (result == Reply.CancelResult.CANCELLED) {
      same.cancelled.add(cancel);
      if (generation == Reply.NO_GENERATION) {
        same.possible.add(cancel);
      }
    } else if (result == Reply.CancelResult.CANCEL_PENDING) {
      same.pending.add(cancel);
      same.possible.add(cancel);
    }
  }

  /**
   * Sorts the firings and builds the indexes. Must be called once, after all events have been added.
   *
   * @param queueRedrives the redrives of the whole queue
   * @param clockErrorMillis the largest difference between two clocks
   */
  void seal(List<Operation> queueRedrives, long clockErrorMillis) {
    this.clockErrorMillis = clockErrorMillis;
    firings.sort(Comparator.comparingLong((Firing firing) -> firing.generation)
        .thenComparingLong(Firing::answeredMillis));
    firings.forEach(Firing::sort);
    cancels.values().forEach(Cancels::seal);
    makersByEffect = OperationIndex.byEffect(makers);
    redrives = queueRedrives;
    if (!queueRedrives.isEmpty()) {
      redrivesByEffect = OperationIndex.byEffect(queueRedrives);
    }
  }

  boolean isUnknown() {
    return queue.equals(UNKNOWN);
  }

  boolean mayBeRedriven(long toMillis) {
    return redrives.stream().anyMatch(redrive -> redrive.invokedMillis() <= toMillis)
        || makers.stream().anyMatch(
            maker -> maker.request() instanceof Request.Redrive && maker.invokedMillis() <= toMillis);
  }

  /**
   * Returns whether an operation that was invoked at or before an instant may have changed the first firing, although
   * no answer shows the change.
   */
  boolean mayBeChanged(long toMillis) {
    return makers.stream().anyMatch(maker -> maker.invokedMillis() <= toMillis);
  }

  /** Returns whether a firing that no answer names may have been made between two instants, both inclusive. */
  boolean mayHaveMore(long fromMillis, long toMillis) {
    return mayHaveHappened(makersByEffect, fromMillis, toMillis)
        || mayHaveHappened(redrivesByEffect, fromMillis, toMillis);
  }

  /** Returns whether a cancel may have ended a firing at or before an instant. */
  boolean mayBeCancelled(Firing firing, long toMillis) {
    if (firing.cancelled != null && firing.cancelled.invokedMillis() - clockErrorMillis <= toMillis) {
      return true;
    }
    for (Cancels some : cancelsOf(firing)) {
      if (mayHaveHappened(some.possibleByEffect, firing.invokedMillis(), toMillis)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether an operation may have taken effect between two instants, both inclusive. The instants may be those
   * of another clock.
   */
  private boolean mayHaveHappened(OperationIndex byEffect, long fromMillis, long toMillis) {
    Operation first = byEffect.firstFrom(minus(fromMillis, clockErrorMillis));
    return first != null && first.invokedMillis() - clockErrorMillis <= toMillis;
  }

  /**
   * Returns the cancel that was answered first among those invoked at or after an instant, or null if there is none.
   *
   * @param pending whether to search the answers CANCEL_PENDING; otherwise the answers CANCELLED
   */
  @Nullable
  Operation firstCancel(Firing firing, boolean pending, long fromMillis) {
    Operation first = null;
    for (Cancels some : cancelsOf(firing)) {
      Operation cancel = (pending ? some.pendingByInvocation : some.cancelledByInvocation).firstFrom(fromMillis);
      if (cancel != null && (first == null || cancel.answeredMillis() < first.answeredMillis())) {
        first = cancel;
      }
    }
    return first;
  }

  private List<Cancels> cancelsOf(Firing firing) {
    if (cancels.isEmpty()) {
      return List.of();
    }
    List<Cancels> found = new ArrayList<>(2);
    Cancels byTask = cancels.get(new Target.Task(firing.taskId));
    if (byTask != null) {
      found.add(byTask);
    }
    Cancels byKey = key == null ? null : cancels.get(new Target.Key(queue, key));
    if (byKey != null) {
      found.add(byKey);
    }
    return found;
  }

  private static long minus(long millis, long durationMillis) {
    return millis < Long.MIN_VALUE + durationMillis ? Long.MIN_VALUE : millis - durationMillis;
  }

  @Override
  public String toString() {
    return key == null ? "a task of queue " + queue : "key " + key + " of queue " + queue;
  }
}
