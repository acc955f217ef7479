package io.foliot;

import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.client.JobWorker;
import io.foliot.core.Scheduler;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The workers over an engine in this process. They are not part of {@link EngineBackend}, because the backend must work
 * without the module of the client.
 */
final class EngineWorkers implements Workers {
  private final Scheduler engine;
  private final Backend backend;
  private final OwnWorkers workers;
  private final EngineTaskSource source;

  EngineWorkers(Scheduler engine, Backend backend, OwnWorkers workers, BooleanSupplier isClosed) {
    this.engine = engine;
    this.backend = backend;
    this.workers = workers;
    source = new EngineTaskSource(engine, backend.jobs(), isClosed);
  }

  @Override
  public JobWorker.Builder of(String queue) {
    Limits.ensureQueueName(queue);
    Optional<QueueConfig> found = backend.await(engine.findQueue(queue));
    if (found.isEmpty()) {
      QueueConfig unused = backend.await(engine.putQueue(QueueConfig.of(queue, Target.pull())));
    } else if (!found.get().target().type().equals(Target.PULL)) {
      throw new IllegalStateException("a worker needs a queue that workers pull from, but the tasks of " + queue
          + " are delivered by " + found.get().target().type()
          + ": use another queue, or call workers().of(queue) before tasks(queue, type) creates it");
    }
    return workers.owned(JobWorker.builder(source, queue));
  }
}
