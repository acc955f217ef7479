package io.foliot.client;

import io.foliot.api.TaskNote;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A context whose worker is stopping and whose lease is not lost. */
final class StoppingJob implements JobContext {
  private final ShardNote note = new ShardNote(TaskNote.NONE);

  @Override
  public String job() {
    return "sync";
  }

  @Override
  public Instant scheduledAt() {
    return ManualClock.START;
  }

  @Override
  public int shard() {
    return 0;
  }

  @Override
  public int shards() {
    return 1;
  }

  @Override
  public @Nullable String shardParameter() {
    return null;
  }

  @Override
  public long missed() {
    return 0;
  }

  @Override
  public @Nullable Payload parameter() {
    return null;
  }

  @Override
  public Fence fence() {
    return new Fence(1, 1);
  }

  @Override
  public @Nullable String checkpoint() {
    return note.checkpoint();
  }

  @Override
  public void checkpoint(String checkpoint) {
    note.checkpoint(checkpoint);
  }

  @Override
  public void checkpointNow(String checkpoint) {
    note.checkpoint(checkpoint);
  }

  @Override
  public void progress(double part, String message) {
    note.progress(part, message);
  }

  @Override
  public void log(String line) {
    note.log(line);
  }

  @Override
  public boolean isLost() {
    return false;
  }

  @Override
  public boolean isStopping() {
    return true;
  }
}
