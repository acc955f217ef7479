package io.foliot.core.store;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The end of an attempt. */
public sealed interface Outcome {
  /** It succeeded. */
  record Finished() implements Outcome {}

  /**
   * It failed, and another attempt shall be made.
   *
   * @param due when the next attempt is due
   */
  record Retry(Due due) implements Outcome {}

  /** It failed, and no other attempt shall be made. */
  record Failed() implements Outcome {}

  /**
   * It succeeded, and the same task shall fire again, as a new generation. The task may get another payload, and other
   * tasks may be inserted. The settlement does all of this in one atomic step, or nothing. So a task can hold a state
   * and fan out work, and the two are always consistent.
   *
   * <p>If the task has a successor, the successor takes over and a plain re-arm has no further effect. A re-arm with a
   * payload or children still has one: the children are inserted, and the task is due at the earlier of the two
   * instants. Its payload is the successor's, or that of the re-arm if the successor has none. If a cancel is pending,
   * the task ends, and no child is inserted.
   *
   * <p>A re-arm with a payload or children drops the recorded attempts of the task: such a task keeps its own history
   * in its payload, and a store need not read the record to write it.
   *
   * @param due when the next generation is due
   * @param body the next payload; null keeps the present one
   * @param children the tasks to insert; those whose id the store knows, live or kept, are left as they are
   */
  record Rearm(Due due, @Nullable Body body, List<Child> children) implements Outcome {
    /** The most children of one settlement: one step of a store must not delay other steps for long. */
    public static final int MAX_CHILDREN = 500;
    /** The most payload of all children of one settlement, in bytes, for the same reason. */
    public static final int MAX_CHILDREN_BYTES = 1 << 20;

    /**
     * @throws IllegalArgumentException if there are too many children, if their payloads are too large in all, or if
     *     two have the same id
     */
    public Rearm {
      children = List.copyOf(children);
      long bytes = bytesOf(children);
      Set<TaskId> ids = new HashSet<>();
      for (Child child : children) {
        if (!ids.add(child.id())) {
          throw new IllegalArgumentException("each child of a settlement has an id of its own: id=" + child.id());
        }
      }
      if (children.size() > MAX_CHILDREN || bytes > MAX_CHILDREN_BYTES) {
        throw new IllegalArgumentException("a settlement has at most " + MAX_CHILDREN + " children, with "
            + MAX_CHILDREN_BYTES + " bytes of payload in all: children=" + children.size() + ", bytes=" + bytes);
      }
    }

    /** Creates a re-arm that keeps the payload and inserts nothing. */
    public Rearm(Due due) {
      this(due, null, List.of());
    }

    private static long bytesOf(List<Child> children) {
      return children.stream().mapToLong(child -> child.body().payload().length).sum();
    }

    /** Returns how many bytes of payload the settlement writes. */
    public long bytes() {
      return bytesOf(children) + (body == null ? 0 : body.payload().length);
    }

    /** Returns whether it changes more than the time of the next firing. */
    public boolean isPlan() {
      return body != null || !children.isEmpty();
    }
  }

  /**
   * A task without a key that a settlement inserts.
   *
   * @param id its id; its slot is that of the task that is settled
   * @param queue its queue
   * @param due the due time
   * @param body the payload
   * @param maxAttempts the number of attempts, or 0 for the queue's
   * @param parked whether it is inserted among the parked tasks of its queue instead of the index of its slot, if it is
   *     due at once. Then any process that serves the queue may take it first, not only the owner of the slot
   */
  record Child(TaskId id, String queue, Due due, Body body, int maxAttempts, boolean parked) {
    /** Returns this task, to be inserted among the parked tasks of its queue if it is due at once. */
    public Child asParked() {
      return new Child(id, queue, due, body, maxAttempts, true);
    }
  }
}
