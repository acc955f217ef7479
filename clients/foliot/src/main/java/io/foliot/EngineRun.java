package io.foliot;

import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An attempt that the engine makes. */
final class EngineRun implements Run {
  private static final Answer DONE = new Answer.Done("");

  private final Attempt attempt;
  private Answer answer = DONE;

  EngineRun(Attempt attempt) {
    this.attempt = attempt;
  }

  @Override
  public String id() {
    return attempt.task().id().toString();
  }

  @Override
  public @Nullable String key() {
    return attempt.task().key();
  }

  @Override
  public long generation() {
    return attempt.task().generation();
  }

  @Override
  public String firingId() {
    return attempt.firingId();
  }

  @Override
  public int attempt() {
    return attempt.task().attempt();
  }

  @Override
  public Instant dueAt() {
    return Instant.ofEpochMilli(attempt.task().dueAt());
  }

  @Override
  public Map<String, String> headers() {
    return attempt.task().body().headers();
  }

  @Override
  public void again(Duration delay) {
    end(new Answer.Again(delay, ""));
  }

  @Override
  public void fail(String reason) {
    end(new Answer.Fail(reason));
  }

  private void end(Answer end) {
    if (answer != DONE) {
      throw endedTwice();
    }
    answer = end;
  }

  static IllegalStateException endedTwice() {
    return new IllegalStateException("again or fail was called before: the end of an attempt is said once");
  }

  /** Returns the end of the attempt. */
  Answer answer() {
    return answer;
  }
}
