package io.foliot;

import io.foliot.client.ClaimedTask;
import io.foliot.client.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An attempt at a task that was claimed from a server. */
final class ClientRun implements Run {
  private static final Settlement DONE = Settlement.ack();

  private final ClaimedTask task;
  private Settlement settlement = DONE;

  ClientRun(ClaimedTask task) {
    this.task = task;
  }

  @Override
  public String id() {
    return task.id();
  }

  @Override
  public @Nullable String key() {
    return task.key();
  }

  @Override
  public long generation() {
    return task.generation();
  }

  @Override
  public String firingId() {
    return task.id() + "-" + task.generation();
  }

  @Override
  public int attempt() {
    return task.attempt();
  }

  @Override
  public Instant dueAt() {
    return task.dueAt();
  }

  @Override
  public Map<String, String> headers() {
    return task.headers();
  }

  @Override
  public void again(Duration delay) {
    end(Settlement.again(delay));
  }

  @Override
  public void fail(String reason) {
    end(Settlement.fail(reason));
  }

  private void end(Settlement end) {
    if (settlement != DONE) {
      throw EngineRun.endedTwice();
    }
    settlement = end;
  }

  /** Returns the end of the attempt. */
  Settlement settlement() {
    return settlement;
  }
}
