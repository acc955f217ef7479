package io.foliot.client;

import io.foliot.api.Job;
import io.foliot.api.TaskNote;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A task source that calls a server. */
record HttpTaskSource(FoliotClient client) implements TaskSource {
  @Override
  public CompletableFuture<List<ClaimedTask>> claim(String queue, ClaimRequest request) {
    return client.async().claim(queue, request);
  }

  @Override
  public CompletableFuture<Duration> extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker,
      Duration within) {
    return client.async().extendWithin(lease, duration, note, worker, within);
  }

  @Override
  public CompletableFuture<Void> settle(Lease lease, Settlement settlement) {
    return client.async().settle(lease, settlement);
  }

  @Override
  public void declare(Job job) {
    JobView unused = client.declareJob(job);
  }

  @Override
  public CompletableFuture<Void> leave(String queue, String worker) {
    return client.async().leave(queue, worker);
  }

  @Override
  public boolean isClosed() {
    return client.async().transport().isClosed();
  }
}
