package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One generation of a task: the answers about it, and its deliveries. */
final class Firing {
  final String taskId;
  final long generation;

  /** The operations whose answers name it, including repeats and those that kept it. */
  final List<Operation> placed = new ArrayList<>();

  /** Those of {@link #placed} whose answer says that they created it. */
  final List<Operation> births = new ArrayList<>();

  /** Deliveries in order of arrival. */
  final List<Delivery> deliveries = new ArrayList<>();

  final List<Operation> reads = new ArrayList<>();

  /** The first answered cancel among those that name this generation. */
  @Nullable
  Operation cancelled;

  /** Its origin, or null if no answer names it. */
  Reply.@Nullable Result born;

  /** The earliest due time that an operation requested that may have created it. */
  private long askedMillis = Long.MAX_VALUE;
  private long dueMillis = Long.MAX_VALUE;
  private long lastDueMillis = Long.MIN_VALUE;
  private long invokedMillis = Long.MAX_VALUE;
  private long answeredMillis = Long.MAX_VALUE;

  Firing(String taskId, long generation) {
    this.taskId = taskId;
    this.generation = generation;
  }

  void place(Operation operation, Reply.Placed reply) {
    Reply.Result result = reply.result();
    placed.add(operation);
    answeredMillis = Math.min(answeredMillis, operation.answeredMillis());
    lastDueMillis = Math.max(lastDueMillis, reply.dueAtMillis());
    if (result != Reply.Result.KEPT) {
      mayStemFrom(operation);
    }
    if (result != Reply.Result.KEPT && result != Reply.Result.REPEATED) {
      dueMillis = Math.min(dueMillis, reply.dueAtMillis());
      births.add(operation);
      if (born == null) {
        born = result;
      }
    }
  }

  /** Adds an operation that, if it took effect, created this firing and no other. */
  void mayStemFrom(Operation operation) {
    invokedMillis = Math.min(invokedMillis, operation.invokedMillis());
    askedMillis = Math.min(askedMillis, operation.notBeforeMillis());
  }

  void cancel(Operation operation) {
    if (cancelled == null || operation.answeredMillis() < cancelled.answeredMillis()) {
      cancelled = operation;
    }
  }

  void sort() {
    deliveries.sort(Comparator.comparingLong(Delivery::arrivedMillis));
  }

  boolean isAcked() {
    return !placed.isEmpty();
  }

  /** Returns when it was first requested, or {@link Long#MIN_VALUE} if that is not known. */
  long invokedMillis() {
    return born == null ? Long.MIN_VALUE : invokedMillis;
  }

  /** Returns when it certainly existed, or {@link Long#MAX_VALUE}. */
  long thereMillis() {
    return deliveries.isEmpty() ? answeredMillis : Math.min(answeredMillis, deliveries.getFirst().arrivedMillis());
  }

  /** Returns when it was first acknowledged, or {@link Long#MAX_VALUE}. */
  long answeredMillis() {
    return answeredMillis;
  }

  long askedMillis() {
    return askedMillis;
  }

  /**
   * Returns when it is due for the first time, or {@link Long#MIN_VALUE} if no answer shows it. An answer that it was
   * kept does not count, because it may name the time of a retry; nor does that of a repeat, which may have kept it.
   */
  long dueMillis() {
    return dueMillis == Long.MAX_VALUE ? Long.MIN_VALUE : dueMillis;
  }

  /** Returns the latest due time that an answer names. */
  long lastDueMillis() {
    return lastDueMillis;
  }

  /** Returns the events that prove that it was requested. */
  List<Event> origin() {
    return placed.isEmpty() ? List.of() : placed.getFirst().events();
  }

  boolean succeeded() {
    return was(Event.Reception.SUCCESS) || was(Event.Reception.AGAIN);
  }

  boolean was(Event.Reception reception) {
    return deliveries.stream().anyMatch(delivery -> delivery.was(reception));
  }

  @Nullable
  Operation read(Reply.State state) {
    for (Operation read : reads) {
      if (state(read) == state) {
        return read;
      }
    }
    return null;
  }

  static Reply.State state(Operation read) {
    return ((Reply.Found) read.reply()).state();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Firing firing && generation == firing.generation && taskId.equals(firing.taskId);
  }

  @Override
  public int hashCode() {
    return Objects.hash(taskId, generation);
  }

  @Override
  public String toString() {
    return "(task " + taskId + ", generation " + generation + ")";
  }
}
