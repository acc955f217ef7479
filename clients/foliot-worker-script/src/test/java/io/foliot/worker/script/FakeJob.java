package io.foliot.worker.script;

import io.foliot.client.Fence;
import io.foliot.client.JobContext;
import io.foliot.client.Payload;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** A shard that needs no server, and records its log. */
final class FakeJob implements JobContext {
  final BlockingQueue<String> logged = new LinkedBlockingQueue<>();
  private final @Nullable Payload parameter;

  FakeJob(@Nullable String parameter) {
    this.parameter = parameter == null ? null : Payload.json(parameter);
  }

  String log() {
    return String.join("\n", logged);
  }

  @Override
  public String job() {
    return "back up \"all\"";
  }

  @Override
  public Instant scheduledAt() {
    return Instant.parse("2026-11-21T02:00:00Z");
  }

  @Override
  public int shard() {
    return 1;
  }

  @Override
  public int shards() {
    return 4;
  }

  @Override
  public String workerZone() {
    return "fra1";
  }

  @Override
  public @Nullable String shardParameter() {
    return "us; rm -rf /";
  }

  @Override
  public long missed() {
    return 2;
  }

  @Override
  public @Nullable Payload parameter() {
    return parameter;
  }

  @Override
  public Fence fence() {
    return new Fence(7, 3);
  }

  @Override
  public @Nullable String checkpoint() {
    return null;
  }

  @Override
  public void checkpoint(String checkpoint) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void checkpointNow(String checkpoint) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void progress(double part, String message) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void log(String line) {
    logged.add(line);
  }

  @Override
  public boolean isLost() {
    return false;
  }

  @Override
  public boolean isStopping() {
    return false;
  }
}
