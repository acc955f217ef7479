package io.foliot;

import io.foliot.api.Field;
import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Retry;
import io.foliot.core.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.function.UnaryOperator;

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

  private Tasks<T> change(UnaryOperator<QueueConfig> change) {
    backend.putQueue(queue, change);
    return this;
  }

  private <V> Tasks<T> set(Field<V> field, V value) {
    return change(settings -> settings.with(field, value));
  }

  @Override
  public Tasks<T> retry(int attempts, Duration backoff) {
    Retry defaults = Retry.DEFAULT;
    Duration longest = backoff.compareTo(defaults.maxBackoff()) > 0 ? backoff : defaults.maxBackoff();
    return set(QueueFields.RETRY, new Retry(attempts, backoff, defaults.multiplier(), longest, defaults.jitter()));
  }

  @Override
  public Tasks<T> concurrency(int attempts) {
    return set(QueueFields.CONCURRENCY, attempts);
  }

  @Override
  public Tasks<T> maxJobs(int jobs) {
    return set(QueueFields.MAX_JOBS, jobs);
  }

  @Override
  public Tasks<T> maxShards(int shards) {
    return set(QueueFields.MAX_SHARDS, shards);
  }

  @Override
  public Tasks<T> rate(double perSecond) {
    return set(QueueFields.RATE, perSecond);
  }

  @Override
  public Tasks<T> priority(int priority) {
    return set(QueueFields.PRIORITY, priority);
  }

  @Override
  public Tasks<T> timeout(Duration timeout) {
    return change(settings -> settings.with(QueueFields.DELIVERY, settings.target().with(timeout)));
  }

  @Override
  public Tasks<T> handle(Handler<? super T> handler) {
    backend.handle(queue, (payload, attempt) -> handler.handle(codec.decode(payload), attempt));
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
