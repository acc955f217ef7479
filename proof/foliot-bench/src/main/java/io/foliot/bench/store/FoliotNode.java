package io.foliot.bench.store;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskId;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.store.Draft;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.engine.coordination.StoreCoordinator;
import io.foliot.jobs.JobMeter;
import io.foliot.jobs.JobPlanner;
import io.foliot.jobs.Jobs;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/** Foliot as an application embeds it: an engine over a store, handlers on virtual threads. */
final class FoliotNode implements AutoCloseable {
  static final String QUEUE = "bench";

  private static final long TIMEOUT_SECONDS = 60;
  private static final int BATCH = 1_000;
  private static final int UNDER_WAY = 4;
  /** Longest wait until the counts of a store are current. */
  private static final Duration COUNTS_BOUND = Duration.ofSeconds(30);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final TimeSource CLOCK = new SystemClock();

  private final ExecutorService handlers = Executors.newVirtualThreadPerTaskExecutor();
  private final Engine engine;

  /** Starts an engine with default options and one queue. The caller closes the store. */
  FoliotNode(TaskStore store, QueueConfig queue, LocalDelivery.Handler handler, Meter meter) {
    this(EngineOptions.defaults("bench"), store, queue,
        executor -> List.of(new LocalDelivery(executor).handle(queue.name(), handler)), new SoleCoordinator(), meter);
  }

  /** Starts a node that plans jobs, too. */
  static FoliotNode withJobs(TaskStore store, QueueConfig queue, LocalDelivery.Handler handler, Meter meter) {
    return new FoliotNode(EngineOptions.defaults("bench"), store, queue,
        executor -> List.of(new LocalDelivery(executor).handle(queue.name(), handler),
            new JobPlanner(store, JobMeter.NONE)),
        new SoleCoordinator(), meter);
  }

  /**
   * Starts a node that plans jobs and has a second queue.
   *
   * @param other the name of the second queue
   * @param ofOther the handler of the second queue
   */
  static FoliotNode withJobs(TaskStore store, QueueConfig queue, LocalDelivery.Handler handler, Meter meter,
      String other, LocalDelivery.Handler ofOther) {
    FoliotNode node = new FoliotNode(EngineOptions.defaults("bench"), store, queue,
        executor -> List.of(new LocalDelivery(executor).handle(queue.name(), handler).handle(other, ofOther),
            new JobPlanner(store, JobMeter.NONE)),
        new SoleCoordinator(), meter);
    await(node.engine.putQueue(QueueConfig.of(other, Target.local())));
    return node;
  }

  /** Returns the API for jobs. The node plans a job as soon as the job is put. */
  Jobs jobs(TaskStore store) {
    return new Jobs(store, engine::write);
  }

  /** Returns the API for the jobs of a planner. The planner must be one of the deliveries of the node. */
  Jobs jobs(JobPlanner planner) {
    return planner.jobs(engine::write);
  }

  /**
   * Starts an engine with one queue. The caller closes the store.
   *
   * @param deliveries creates the deliveries from the executor for handlers
   */
  FoliotNode(EngineOptions options, TaskStore store, QueueConfig queue, Function<Executor, List<Delivery>> deliveries,
      Coordinator coordinator, Meter meter) {
    engine = new Engine(options, new Environment(CLOCK, () -> newLoop("bench-loop-"), new SplittableRandom(), store,
        coordinator, deliveries.apply(handlers), meter));
    await(engine.start());
    await(engine.putQueue(queue));
  }

  /** Returns a coordinator that finds other nodes, and assigns slots, through the store. */
  static Coordinator coordinator(TaskStore store) {
    return new StoreCoordinator(store, CLOCK, newLoop("bench-coordinator-"));
  }

  private static ThreadEventLoop newLoop(String name) {
    return new ThreadEventLoop(CLOCK, Thread.ofPlatform().name(name, 0).factory());
  }

  /** Starts a node with a pull queue and no workers, so no task of the queue ever runs. */
  static FoliotNode withoutHandlers(TaskStore store) {
    return withoutHandlers(store, QueueConfig.of(QUEUE, Target.pull()));
  }

  /** Starts a node with this pull queue and no workers, so no task of the queue ever runs. */
  static FoliotNode withoutHandlers(TaskStore store, QueueConfig pull) {
    return new FoliotNode(store, pull, attempt -> new Answer.Fail("nothing is due"), Meter.NONE);
  }

  Scheduler scheduler() {
    return engine;
  }

  /** Returns the result of a call, or fails after a timeout. */
  static <T> T await(CompletionStage<T> answer) {
    return answer.toCompletableFuture().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
  }

  /** Returns a body that contains the number of its task. */
  static Body body(int number) {
    return Body.json(Integer.toString(number));
  }

  static int number(Body body) {
    int number = 0;
    for (byte digit : body.payload()) {
      number = number * 10 + digit - '0';
    }
    return number;
  }

  /**
   * Submits tasks, numbered from 0, to the store without an engine.
   *
   * @param due returns the due time of a task, given the number of the task
   */
  static void fill(TaskStore store, QueueConfig queue, int tasks, IntFunction<Due> due) {
    store.configure(queue.name(), QueueTerms.of(queue));
    SplittableRandom random = new SplittableRandom();
    Deque<CompletionStage<?>> underWay = new ArrayDeque<>();
    for (int first = 0; first < tasks; first += BATCH) {
      List<Draft> drafts = new ArrayList<>(BATCH);
      long now = System.currentTimeMillis();
      for (int number = first; number < Math.min(first + BATCH, tasks); number++) {
        drafts.add(new Draft(TaskId.of(now, random.nextInt(), random.nextLong()), queue.name(), null, due.apply(number),
            body(number), 0, OnConflict.RESET, null));
      }
      underWay.add(store.submit(drafts));
      if (underWay.size() == UNDER_WAY) {
        await(underWay.remove());
      }
    }
    underWay.forEach(FoliotNode::await);
  }

  /**
   * Waits until the counts of queue {@link #QUEUE} fulfil a condition. Fails after {@link #COUNTS_BOUND}.
   *
   * @param rule the condition in words, for the message
   */
  static void ensureCounts(TaskStore store, String rule, Predicate<QueueCounts> holds) {
    long begun = System.nanoTime();
    QueueCounts counts;
    do {
      counts = await(store.counts()).getOrDefault(QUEUE, QueueCounts.NONE);
      if (holds.test(counts)) {
        return;
      }
      LockSupport.parkNanos(POLL_NANOS);
    } while (System.nanoTime() - begun < COUNTS_BOUND.toNanos());
    throw new IllegalStateException(rule + ": counts=" + counts);
  }

  @Override
  public void close() {
    engine.close();
    handlers.close();
  }
}
