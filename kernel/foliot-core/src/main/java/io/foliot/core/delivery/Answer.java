package io.foliot.core.delivery;

import io.foliot.core.Limits;
import io.foliot.core.TaskNote;
import io.foliot.core.store.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The result of an attempt. */
public sealed interface Answer {
  /** Returns the receiver's message, for people; may be empty. */
  String detail();

  /** It succeeded. */
  record Done(String detail) implements Answer {}

  /**
   * It succeeded; the task is to fire again.
   *
   * @param next how long from now; less than {@link Limits#MIN_NEXT_MILLIS} becomes that
   */
  record Again(Duration next, String detail) implements Answer {
    public Again {
      Limits.ensureDuration("next", next);
    }
  }

  /**
   * It succeeded; the task is to fire again, and may get another payload and insert other tasks.
   *
   * @param next when, and what is written with it
   */
  record Plan(Outcome.Rearm next, String detail) implements Answer {}

  /** It was accepted; the handler will report before the lease ends, with the token. */
  record Accepted(String detail) implements Answer {}

  /**
   * It failed; try again.
   *
   * @param after the wait the receiver asked for, or null for the queue's backoff, which is waited at least
   * @param health what it says about the destination
   */
  record Retry(@Nullable Duration after, Health health, String detail) implements Answer {
    public Retry {
      if (after != null) {
        Limits.ensureDuration("after", after);
      }
    }
  }

  /** It failed; there is no point in trying again. */
  record Fail(String detail) implements Answer {}

  /**
   * Another answer, with what the handler says of its work. The note is recorded with the end of the attempt.
   *
   * @param end the answer, which has no note itself
   */
  record Noted(Answer end, TaskNote note) implements Answer {
    public Noted {
      if (end instanceof Noted || end instanceof Accepted) {
        throw new IllegalArgumentException("a note goes with the end of an attempt: answer=" + end);
      }
    }

    @Override
    public String detail() {
      return end.detail();
    }
  }

  /** The meaning of a failure for the destination as a whole. */
  enum Health {
    /** It works; this task failed. */
    WELL,
    /** It answers that something is wrong inside. */
    FAILING,
    /** It asks for less. */
    OVERLOADED,
    /** It was not reached, or did not answer in time. */
    UNREACHABLE
  }
}
