package io.foliot;

import java.util.function.UnaryOperator;

/** A {@link Foliot} over a backend. */
final class DefaultFoliot implements Foliot {
  private final Backend backend;

  DefaultFoliot(Backend backend) {
    this.backend = backend;
  }

  @Override
  public <T> Tasks<T> tasks(String queue, Class<T> type) {
    return tasks(queue, PayloadCodecs.of(type));
  }

  @Override
  public <T> Tasks<T> tasks(String queue, PayloadCodec<T> codec) {
    backend.putQueue(queue, UnaryOperator.identity());
    return new DefaultTasks<>(backend, queue, codec);
  }

  @Override
  public RecurringJobs jobs() {
    return backend.jobs();
  }

  @Override
  public Workers workers() {
    return backend.workers();
  }

  @Override
  public void close() {
    backend.close();
  }
}
