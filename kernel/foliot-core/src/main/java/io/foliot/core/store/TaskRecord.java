package io.foliot.core.store;

import io.foliot.api.Body;
import io.foliot.api.JobHeaders;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All data that a store has of a task. Immutable; {@link #edit()} begins its next version.
 *
 * <p>A live task has exactly one index entry, at {@link #wakeAt}; a final task has none. The entry of a running task is
 * at the task's lease end or earlier. The entry of any other live task is at the task's due time or earlier. So a
 * task can be postponed without writing the index.
 */
public final class TaskRecord {
  private final TaskId id;
  private final String queue;
  private final @Nullable String key;
  private final Body body;
  private final long createdAt;
  private final long changedAt;
  private final long firstDueAt;
  private final int maxAttempts;
  private final TaskState state;
  private final long generation;
  private final long dueAt;
  private final long wakeAt;
  private final boolean parked;
  private final int attempt;
  private final @Nullable Token token;
  private final long leaseEnd;
  private final long claimedAt;
  private final AttemptRecord.@Nullable End settledAs;
  private final boolean cancelRequested;
  private final boolean outstanding;
  private final @Nullable Successor successor;
  private final List<AttemptRecord> attempts;
  private final @Nullable Noted noted;
  private final String reason;
  private final long dropAt;

  private TaskRecord(Edit edit) {
    id = edit.id;
    queue = edit.queue;
    key = edit.key;
    body = edit.body;
    createdAt = edit.createdAt;
    changedAt = edit.changedAt;
    firstDueAt = edit.firstDueAt;
    maxAttempts = edit.maxAttempts;
    state = edit.state;
    generation = edit.generation;
    dueAt = edit.dueAt;
    wakeAt = edit.wakeAt;
    parked = edit.parked;
    attempt = edit.attempt;
    token = edit.token;
    leaseEnd = edit.leaseEnd;
    claimedAt = edit.claimedAt;
    settledAs = edit.settledAs;
    cancelRequested = edit.cancelRequested;
    outstanding = edit.outstanding;
    successor = edit.successor;
    attempts = edit.attempts;
    noted = edit.noted;
    reason = edit.reason;
    dropAt = edit.dropAt;
    assert check();
  }

  /**
   * The generation that takes over when the running attempt settles or its lease ends.
   *
   * @param generation its number, larger than that of the running generation
   * @param dueAt its due time, in milliseconds since 1970
   * @param firstDueAt its due time before any reset of the successor, in milliseconds since 1970
   * @param body its payload; null for the payload of the task
   * @param maxAttempts its number of attempts, or 0 for the number of the queue
   */
  public record Successor(long generation, long dueAt, long firstDueAt, @Nullable Body body, int maxAttempts) {
    /** Returns the same successor with another body; null for the payload of the task. */
    public Successor with(@Nullable Body other) {
      return new Successor(generation, dueAt, firstDueAt, other, maxAttempts);
    }
  }

  /**
   * A note of a handler.
   *
   * @param generation the generation whose attempt wrote the note; the note has no meaning for other generations
   * @param note the note itself
   */
  public record Noted(long generation, TaskNote note) {}

  /** Returns an edit of a new record. */
  public static Edit edit(TaskId id, String queue, @Nullable String key) {
    return new Edit(id, queue, key);
  }

  /** Returns an edit that begins with the values of this record. */
  public Edit edit() {
    return new Edit(this);
  }

  private boolean check() {
    assert state != TaskState.READY : "READY is never written";
    assert state != TaskState.RUNNING || (token != null && wakeAt <= leaseEnd) : this;
    assert state != TaskState.RUNNING || settledAs == null || settledAs == AttemptRecord.End.LEASE_ENDED : this;
    assert state != TaskState.DELAYED || (wakeAt <= dueAt && successor == null && !cancelRequested) : this;
    assert !state.isFinal() || (!parked && successor == null) : this;
    return true;
  }

  /**
   * Returns the payload of the successor; null if there is no successor, or if the successor keeps the payload of the
   * task.
   */
  public @Nullable Body successorBody() {
    return successor == null ? null : successor.body();
  }

  /** Returns whether the task is not final. */
  public boolean isLive() {
    return !state.isFinal();
  }

  /** Returns the state at a time of the store's clock: a DELAYED task that is due is READY. */
  public TaskState stateAt(long nowMillis) {
    return state == TaskState.DELAYED && dueAt <= nowMillis ? TaskState.READY : state;
  }

  /** Returns how many attempts each generation of the task gets, under the terms of the queue. */
  public int attemptsAllowed(QueueTerms terms) {
    return maxAttempts == 0 ? terms.maxAttempts() : maxAttempts;
  }

  /** Returns the id of the task. */
  public TaskId id() {
    return id;
  }

  /** Returns the name of the queue. */
  public String queue() {
    return queue;
  }

  /** Returns the key, or null if the task has none. */
  public @Nullable String key() {
    return key;
  }

  /** Returns the payload. */
  public Body body() {
    return body;
  }

  /** Returns when the task was inserted, in milliseconds since 1970. */
  public long createdAt() {
    return createdAt;
  }

  /** Returns when the state last changed, in milliseconds since 1970. A reset does not count as a change. */
  public long changedAt() {
    return changedAt;
  }

  /**
   * Returns the due time from which {@code maxWait} is measured, in milliseconds since 1970. Resets do not change this
   * time.
   */
  public long firstDueAt() {
    return firstDueAt;
  }

  /** Returns how many attempts each generation gets, or 0 for the number of the queue. */
  public int maxAttempts() {
    return maxAttempts;
  }

  /** Returns the state; never READY. */
  public TaskState state() {
    return state;
  }

  /** Returns the generation; for a running task, the generation that is being attempted. */
  public long generation() {
    return generation;
  }

  /** Returns the due time, in milliseconds since 1970. */
  public long dueAt() {
    return dueAt;
  }

  /** Returns the time of the index entry, in milliseconds since 1970; undefined once the task is final. */
  public long wakeAt() {
    return wakeAt;
  }

  /** Returns whether the index entry is in the parked range of the queue. */
  public boolean parked() {
    return parked;
  }

  /** Returns how many attempts of this generation have begun. */
  public int attempt() {
    return attempt;
  }

  /** Returns the token of the latest claim, or null if there was none. */
  public @Nullable Token token() {
    return token;
  }

  /** Returns when the lease of a RUNNING task ends, in milliseconds since 1970; undefined in other states. */
  public long leaseEnd() {
    return leaseEnd;
  }

  /** Returns when the task was last claimed, in milliseconds since 1970; 0 if never. */
  public long claimedAt() {
    return claimedAt;
  }

  /**
   * Returns the way in which the latest claim was settled, or null if it was not settled. A running task has null, or
   * {@link AttemptRecord.End#LEASE_ENDED} if an extension has found its lease ended.
   */
  public AttemptRecord.@Nullable End settledAs() {
    return settledAs;
  }

  /**
   * Returns whether a cancel is pending. It takes effect when the running attempt or its lease ends, unless the attempt
   * finishes the task.
   */
  public boolean cancelRequested() {
    return cancelRequested;
  }

  /** Returns whether the lease of an attempt ended without a settle. Such an attempt may still deliver. */
  public boolean outstanding() {
    return outstanding;
  }

  /** Returns the successor that takes over when the attempt ends, or null. */
  public @Nullable Successor successor() {
    return successor;
  }

  /** Returns the latest attempts that ended, oldest first, at most {@link AttemptRecord#KEPT}. */
  public List<AttemptRecord> attempts() {
    return attempts;
  }

  /** Returns how many of the latest attempts of this generation did not begin, as far as the history shows. */
  public int notBegunInARow() {
    int count = 0;
    for (AttemptRecord ended : attempts.reversed()) {
      if (ended.end() != AttemptRecord.End.NOT_BEGUN || ended.generation() != generation) {
        break;
      }
      count++;
    }
    return count;
  }

  /** Returns the latest note of any generation, or null; {@link #note} returns the note of the current generation. */
  public @Nullable Noted noted() {
    return noted;
  }

  /**
   * Returns the note of the attempts of the current generation. For a shard of a job, the note has the checkpoint of
   * the same shard from the previous run, until the attempts of the current generation leave another checkpoint.
   */
  public TaskNote note() {
    TaskNote note = noted == null || noted.generation() != generation ? TaskNote.NONE : noted.note();
    String begin = note.checkpoint() == null ? body.headers().get(JobHeaders.CHECKPOINT) : null;
    return begin == null ? note : new TaskNote(note.progress(), note.message(), begin, note.log(), note.mark());
  }

  /** Returns why the task ended, for display; empty for a live or finished task. */
  public String reason() {
    return reason;
  }

  /** Returns when a final task may be forgotten, in milliseconds since 1970; 0 for a live task. */
  public long dropAt() {
    return dropAt;
  }

  @Override
  public String toString() {
    return "TaskRecord[id=" + id + ", queue=" + queue + ", key=" + key + ", state=" + state + ", generation="
        + generation
        + ", dueAt=" + dueAt + ", wakeAt=" + wakeAt + ", parked=" + parked + ", attempt=" + attempt + ", leaseEnd="
        + leaseEnd + ", cancelRequested=" + cancelRequested + ", outstanding=" + outstanding + ", successor="
        + successor
        + "]";
  }

  /** Builds a record. Not thread-safe. */
  public static final class Edit {
    private final TaskId id;
    private final String queue;
    private final @Nullable String key;
    private Body body = Body.EMPTY;
    private long createdAt;
    private long changedAt;
    private long firstDueAt;
    private int maxAttempts;
    private TaskState state = TaskState.DELAYED;
    private long generation;
    private long dueAt;
    private long wakeAt;
    private boolean parked;
    private int attempt;
    private @Nullable Token token;
    private long leaseEnd;
    private long claimedAt;
    private AttemptRecord.@Nullable End settledAs;
    private boolean cancelRequested;
    private boolean outstanding;
    private @Nullable Successor successor;
    private List<AttemptRecord> attempts = List.of();
    private @Nullable Noted noted;
    private String reason = "";
    private long dropAt;

    private Edit(TaskId id, String queue, @Nullable String key) {
      this.id = id;
      this.queue = queue;
      this.key = key;
    }

    private Edit(TaskRecord from) {
      id = from.id;
      queue = from.queue;
      key = from.key;
      body = from.body;
      createdAt = from.createdAt;
      changedAt = from.changedAt;
      firstDueAt = from.firstDueAt;
      maxAttempts = from.maxAttempts;
      state = from.state;
      generation = from.generation;
      dueAt = from.dueAt;
      wakeAt = from.wakeAt;
      parked = from.parked;
      attempt = from.attempt;
      token = from.token;
      leaseEnd = from.leaseEnd;
      claimedAt = from.claimedAt;
      settledAs = from.settledAs;
      cancelRequested = from.cancelRequested;
      outstanding = from.outstanding;
      successor = from.successor;
      attempts = from.attempts;
      noted = from.noted;
      reason = from.reason;
      dropAt = from.dropAt;
    }

    /** Sets {@link TaskRecord#body}. */
    public Edit body(Body value) {
      body = value;
      return this;
    }

    /** Sets {@link TaskRecord#createdAt}. */
    public Edit createdAt(long value) {
      createdAt = value;
      return this;
    }

    /** Sets {@link TaskRecord#changedAt}. */
    public Edit changedAt(long value) {
      changedAt = value;
      return this;
    }

    /** Sets {@link TaskRecord#firstDueAt}. */
    public Edit firstDueAt(long value) {
      firstDueAt = value;
      return this;
    }

    /** Sets {@link TaskRecord#maxAttempts}. */
    public Edit maxAttempts(int value) {
      maxAttempts = value;
      return this;
    }

    /** Sets {@link TaskRecord#state}. */
    public Edit state(TaskState value) {
      state = value;
      return this;
    }

    /** Sets {@link TaskRecord#generation}. */
    public Edit generation(long value) {
      generation = value;
      return this;
    }

    /** Sets {@link TaskRecord#dueAt}. */
    public Edit dueAt(long value) {
      dueAt = value;
      return this;
    }

    /** Sets {@link TaskRecord#wakeAt}. */
    public Edit wakeAt(long value) {
      wakeAt = value;
      return this;
    }

    /** Sets {@link TaskRecord#parked}. */
    public Edit parked(boolean value) {
      parked = value;
      return this;
    }

    /** Sets {@link TaskRecord#attempt}. */
    public Edit attempt(int value) {
      attempt = value;
      return this;
    }

    /** Sets {@link TaskRecord#token}. */
    public Edit token(@Nullable Token value) {
      token = value;
      return this;
    }

    /** Sets {@link TaskRecord#leaseEnd}. */
    public Edit leaseEnd(long value) {
      leaseEnd = value;
      return this;
    }

    /** Sets {@link TaskRecord#claimedAt}. */
    public Edit claimedAt(long value) {
      claimedAt = value;
      return this;
    }

    /** Sets {@link TaskRecord#settledAs}. */
    public Edit settledAs(AttemptRecord.@Nullable End value) {
      settledAs = value;
      return this;
    }

    /** Sets {@link TaskRecord#cancelRequested}. */
    public Edit cancelRequested(boolean value) {
      cancelRequested = value;
      return this;
    }

    /** Sets {@link TaskRecord#outstanding}. */
    public Edit outstanding(boolean value) {
      outstanding = value;
      return this;
    }

    /** Sets {@link TaskRecord#successor}. */
    public Edit successor(@Nullable Successor value) {
      successor = value;
      return this;
    }

    /** Sets {@link TaskRecord#attempts}. */
    public Edit attempts(List<AttemptRecord> value) {
      attempts = value;
      return this;
    }

    /** Sets {@link TaskRecord#noted}. */
    public Edit noted(@Nullable Noted value) {
      noted = value;
      return this;
    }

    /** Sets {@link TaskRecord#reason}. */
    public Edit reason(String value) {
      reason = value;
      return this;
    }

    /** Sets {@link TaskRecord#dropAt}. */
    public Edit dropAt(long value) {
      dropAt = value;
      return this;
    }

    /**
     * Returns the record, after a check of its fields: they were read from a store, and may be damaged.
     *
     * @throws IllegalArgumentException if the fields contradict each other; no writer stores such a record
     */
    public TaskRecord possible() {
      boolean isPossible = switch (state) {
        case RUNNING -> token != null && wakeAt <= leaseEnd;
        case DELAYED -> wakeAt <= dueAt && successor == null && !cancelRequested;
        case READY -> false;
        case FINISHED, FAILED, CANCELLED -> !parked && successor == null;
      };
      if (!isPossible) {
        throw new IllegalArgumentException(
            "the fields of a record contradict each other: task=" + id + ", state=" + state);
      }
      return done();
    }

    /** Returns the record. */
    public TaskRecord done() {
      return new TaskRecord(this);
    }
  }
}
