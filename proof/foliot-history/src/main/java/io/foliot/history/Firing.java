package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One generation of a task, with its deliveries and the answers that name it. */
final class Firing {
  final String taskId;
  final long generation;

  /** The operations whose answers name this firing, including answers REPEATED and KEPT. */
  final List<Operation> placed = new ArrayList<>();

  /** The operations of {@link #placed} whose answers show that they made this firing. */
  final List<Operation> births = new ArrayList<>();

  /** Deliveries in order of arrival. */
  final List<Delivery> deliveries = new ArrayList<>();

  final List<Operation> reads = new ArrayList<>();

  /** The cancel that was answered first among those whose answer names this generation. */
  @Nullable
  Operation cancelled;

  /** The result of the operation that made this firing, or null if no answer shows it. */
  Reply.@Nullable Result born;

  /** The earliest due time requested by an operation that may have made this firing. */
  private long requestedMillis = Long.MAX_VALUE;
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

  /** Adds an operation that made this firing if it took effect, and cannot have made any other. */
  void mayStemFrom(Operation operation) {
    invokedMillis = Math.min(invokedMillis, operation.invokedMillis());
    requestedMillis = Math.min(requestedMillis, operation.notBeforeMillis());
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

  /** Returns when this firing was first requested, or {@link Long#MIN_VALUE} if no answer shows it. */
  long invokedMillis() {
    return born == null ? Long.MIN_VALUE : invokedMillis;
  }

  /** Returns when an answer or arrival first proved that this firing exists, or {@link Long#MAX_VALUE} if none did. */
  long knownMillis() {
    return deliveries.isEmpty() ? answeredMillis : Math.min(answeredMillis, deliveries.getFirst().arrivedMillis());
  }

  /** Returns when an answer first named this firing, or {@link Long#MAX_VALUE} if none did. */
  long answeredMillis() {
    return answeredMillis;
  }

  long requestedMillis() {
    return requestedMillis;
  }

  /**
   * Returns the first due time of this firing, or {@link Long#MIN_VALUE} if no answer shows it. Ignores an answer KEPT,
   * because it may name the time of a retry. Also ignores an answer REPEATED, because it may repeat an answer KEPT.
   */
  long dueMillis() {
    return dueMillis == Long.MAX_VALUE ? Long.MIN_VALUE : dueMillis;
  }

  /** Returns the latest due time that an answer names, or {@link Long#MIN_VALUE} if none does. */
  long lastDueMillis() {
    return lastDueMillis;
  }

  /** Returns the events of one operation whose answer names this firing, or an empty list if no answer does. */
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
