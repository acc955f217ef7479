package io.foliot.core.delivery;

import io.foliot.api.Limits;
import io.foliot.api.TaskNote;
import io.foliot.core.store.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The result of an attempt. */
public sealed interface Answer {
  /** Returns the receiver's message, which is only displayed. It may be empty. */
  String detail();

  /** The attempt succeeded. */
  record Done(String detail) implements Answer {}

  /**
   * The attempt succeeded; the task is to fire again.
   *
   * @param next the delay until the next firing. It begins when the store records this answer. A delay below {@link
   *     Limits#MIN_NEXT_MILLIS} is raised to that minimum
   */
  record Again(Duration next, String detail) implements Answer {
    public Again {
      Limits.ensureDuration("next", next);
    }
  }

  /**
   * The attempt succeeded; the task is to fire again, and may get another payload and insert other tasks.
   *
   * @param next the next due time, and the changes that the store makes in the same step
   */
  record Plan(Outcome.Rearm next, String detail) implements Answer {}

  /** The handler has accepted the attempt, and will report the attempt's end with the token before the lease ends. */
  record Accepted(String detail) implements Answer {}

  /**
   * The attempt failed and is to be retried.
   *
   * @param after the wait that the receiver requested, or null; the actual wait is never shorter than the queue's
   *     backoff
   * @param health the meaning of the failure for the destination
   */
  record Retry(@Nullable Duration after, Health health, String detail) implements Answer {
    public Retry {
      if (after != null) {
        Limits.ensureDuration("after", after);
      }
    }
  }

  /**
   * The attempt did not begin: neither a receiver nor a handler has seen the task. It does not count; see {@link
   * Outcome.NotBegun}.
   *
   * @param health the meaning for the destination
   */
  record NotBegun(Health health, String detail) implements Answer {}

  /** The attempt failed, and a retry is pointless. */
  record Fail(String detail) implements Answer {}

  /**
   * An answer of another type, together with the handler's note. The store records the note with the end of the
   * attempt.
   *
   * @param end the answer without the note; it must end the attempt, so it is not {@link Accepted}
   */
  record Noted(Answer end, TaskNote note) implements Answer {
    public Noted {
      if (end instanceof Noted || end instanceof Accepted) {
        throw new IllegalArgumentException("only the end of an attempt can have a note, and only one: answer=" + end);
      }
    }

    @Override
    public String detail() {
      return end.detail();
    }
  }

  /** The meaning of a failure for the destination as a whole. */
  enum Health {
    /** The destination works; this task failed. */
    WELL,
    /** The destination reports an internal error. */
    FAILING,
    /** The destination requests less load. */
    OVERLOADED,
    /** The destination was not reached, or did not answer in time. */
    UNREACHABLE
  }
}
