package io.foliot;

import io.foliot.core.Limits;
import io.foliot.core.Retry;
import io.foliot.core.Submission;
import java.time.Duration;
import java.time.Instant;

/** The tasks of a queue of a backend. */
final class DefaultTasks<T> implements Tasks<T> {
  private final Backend backend;
  private final String queue;
  private final PayloadCodec<T> codec;

  DefaultTasks(Backend backend, String queue, PayloadCodec<T> codec) {
    this.backend = backend;
    this.queue = queue;
    this.codec = codec;
  }

  private Tasks<T> change(SettingsChange change) {
    backend.putQueue(queue, change);
    return this;
  }

  @Override
  public Tasks<T> retry(int attempts, Duration backoff) {
    Retry defaults = Retry.DEFAULT;
    Duration longest = backoff.compareTo(defaults.maxBackoff()) > 0 ? backoff : defaults.maxBackoff();
    return change(
        SettingsChange.retry(new Retry(attempts, backoff, defaults.multiplier(), longest, defaults.jitter())));
  }

  @Override
  public Tasks<T> concurrency(int attempts) {
    return change(SettingsChange.concurrency(attempts));
  }

  @Override
  public Tasks<T> maxJobs(int jobs) {
    return change(SettingsChange.maxJobs(jobs));
  }

  @Override
  public Tasks<T> maxShards(int shards) {
    return change(SettingsChange.maxShards(shards));
  }

  @Override
  public Tasks<T> rate(double perSecond) {
    return change(SettingsChange.rate(perSecond));
  }

  @Override
  public Tasks<T> priority(int priority) {
    return change(SettingsChange.priority(priority));
  }

  @Override
  public Tasks<T> timeout(Duration timeout) {
    return change(SettingsChange.timeout(timeout));
  }

  @Override
  public Tasks<T> handle(Handler<? super T> handler) {
    backend.handle(queue, (payload, run) -> handler.handle(codec.decode(payload), run));
    return this;
  }

  @Override
  public TaskBuilder<T> in(Duration delay) {
    return new DefaultTaskBuilder<>(backend, codec, Submission.builder(queue).delay(delay));
  }

  @Override
  public TaskBuilder<T> at(Instant dueAt) {
    return new DefaultTaskBuilder<>(backend, codec, Submission.builder(queue).dueAt(dueAt));
  }

  @Override
  public TaskBuilder<T> now() {
    return in(Duration.ZERO);
  }

  @Override
  public KeyedTask key(String key) {
    Limits.ensureKey(key);
    return new DefaultKeyedTask(backend, queue, key, null);
  }
}
