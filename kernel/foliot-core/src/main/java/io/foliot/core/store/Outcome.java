package io.foliot.core.store;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.core.TaskId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The way in which an attempt ended. */
public sealed interface Outcome {
  /** The attempt succeeded. */
  record Finished() implements Outcome {}

  /**
   * The attempt failed, and another attempt is to be made.
   *
   * @param due when the next attempt is due
   */
  record Retry(Due due) implements Outcome {}

  /**
   * The attempt did not begin: neither a receiver nor a handler has seen the task. It does not count, so the next
   * attempt has its number. The task is due again at once. After {@link #AT_ONCE} such attempts in a row, the task is
   * due again after {@link #PAUSE_MILLIS} each time, and the history keeps only the latest of the further ones.
   */
  record NotBegun() implements Outcome {
    /** Number of successive attempts that did not begin, each of which makes its task due at once. */
    public static final int AT_ONCE = 3;
    /** Pause after each further one, in milliseconds: a task that always comes back must not keep its queue busy. */
    public static final long PAUSE_MILLIS = 1_000;
  }

  /** The attempt failed, and no other attempt is to be made. */
  record Failed() implements Outcome {}

  /**
   * The attempt succeeded, and the same task is to fire again, as a new generation. The task may get another payload,
   * and other tasks may be inserted. The settlement does all of this in one atomic step, or nothing. A caller can
   * therefore keep a state in the payload that is always consistent with the inserted tasks.
   *
   * <p>If the task has a successor, the successor takes over and a plain re-arm has no further effect. A re-arm with a
   * payload or children still inserts the children. The task is then due at the due time of the re-arm or of the
   * successor, whichever is earlier. The task gets the payload of the successor, or the payload of the re-arm if the
   * successor has none. If a cancel is pending, the task ends, and no child is inserted.
   *
   * <p>A re-arm with a payload or children drops the recorded attempts and the note of the task. The store can then
   * write the new record without reading the old one. A task that needs a history keeps it in the payload.
   *
   * @param due when the next generation is due
   * @param body the next payload; null keeps the current one
   * @param children the tasks to insert. A child is skipped if a task with its id exists, live or kept
   */
  record Rearm(Due due, @Nullable Body body, List<Child> children) implements Outcome {
    /** Maximum number of children of one settlement; one step of a store must not delay other steps for long. */
    public static final int MAX_CHILDREN = 500;
    /** Maximum number of bytes of payload of all children of one settlement, for the same reason. */
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
          throw new IllegalArgumentException("two children of a settlement have the same id: id=" + child.id());
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

    /** Returns whether this re-arm does more than set the time of the next firing. */
    public boolean isPlan() {
      return body != null || !children.isEmpty();
    }
  }

  /**
   * A task without a key that a settlement inserts.
   *
   * @param id its id, which must have the {@linkplain TaskId#hash16 hash} of the settled task, and so its slot
   * @param queue its queue
   * @param due the due time
   * @param body the payload
   * @param maxAttempts the maximum number of attempts, or 0 for the number of the queue
   * @param parked if true, a child that is due at once is inserted into the parked range of its queue, and not into the
   *     index of its slot. Any process that serves the queue then finds the child, not only the owner of the slot
   */
  record Child(TaskId id, String queue, Due due, Body body, int maxAttempts, boolean parked) {
    /** Returns this child with {@link #parked} set. */
    public Child asParked() {
      return new Child(id, queue, due, body, maxAttempts, true);
    }
  }
}
