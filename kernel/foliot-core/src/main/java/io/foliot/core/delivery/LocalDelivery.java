package io.foliot.core.delivery;

import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.SystemClock;
import io.foliot.core.TimeSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers tasks to handlers in this process, by queue. Handlers may be set and removed while the scheduler runs. Tasks
 * of a queue that has no handler here are parked until this node or another node has a handler.
 */
public final class LocalDelivery implements Delivery, ServedQueues {
  private static final System.Logger LOG = System.getLogger(LocalDelivery.class.getName());

  private final Executor executor;
  private final TimeSource clock;
  private final Map<String, Registered> handlers = new ConcurrentHashMap<>();
  private final Set<Work> running = ConcurrentHashMap.newKeySet();
  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

  /** Creates a delivery whose handlers run on this executor, which must not reject tasks while the scheduler runs. */
  public LocalDelivery(Executor executor) {
    this(executor, new SystemClock());
  }

  /** Creates a delivery whose handlers run on this executor. The clock limits how often failures are logged. */
  LocalDelivery(Executor executor, TimeSource clock) {
    this.executor = executor;
    this.clock = clock;
  }

  /** Code that does the work of a task. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Does the work. The thread is interrupted soon after the timeout of the queue's target has passed, if the lease is
     * lost, or if the task is being cancelled. The attempt has then failed, regardless of what the handler returns.
     *
     * @throws Exception if the attempt has failed and the task is to be retried
     */
    Answer handle(DeliveryAttempt attempt) throws Exception;
  }

  /** Thrown by a handler that has failed and leaves a note on the work done so far. */
  public static final class NotedFailure extends Exception {
    private static final long serialVersionUID = 1;
    private final transient TaskNote note;

    /** Creates a failure with a note. */
    public NotedFailure(Throwable cause, TaskNote note) {
      super(null, cause, false, false);
      this.note = note;
    }
  }

  /**
   * Sets the handler of a queue, for the attempts that begin from now on. Attempts that are under way keep their
   * handlers.
   */
  public LocalDelivery handle(String queue, Handler handler) {
    handlers.put(queue, new Registered(handler, new FailureLog(LOG, queue, clock.monotonicNanos())));
    listeners.forEach(listener -> listener.accept(queue));
    return this;
  }

  /** Removes the handler of a queue. Attempts that are under way continue. */
  public void remove(String queue) {
    handlers.remove(queue);
    listeners.forEach(listener -> listener.accept(queue));
  }

  @Override
  public String type() {
    return Target.LOCAL;
  }

  @Override
  public CompletionStage<Void> check(Target target) {
    if (!target.type().equals(Target.LOCAL)) {
      throw new IllegalArgumentException("a local delivery has targets of type local only: type=" + target.type());
    }
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public String destination(Target target) {
    return Target.LOCAL;
  }

  @Override
  public ServedQueues servedQueues() {
    return this;
  }

  @Override
  public boolean contains(String queue) {
    return handlers.containsKey(queue);
  }

  @Override
  public void addListener(Consumer<String> listener) {
    listeners.add(listener);
  }

  @Override
  public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    Registered handler = handlers.get(attempt.task().queue());
    if (handler == null) {
      answer.complete(new Answer.NotBegun(Answer.Health.WELL,
          "not begun: the handler of the queue was removed from this node a moment ago"));
      return answer;
    }
    Work work = new Work(handler, attempt, answer);
    var unused = answer.whenComplete((given, failure) -> {
      if (answer.isCancelled()) {
        work.interrupt();
      }
    });
    try {
      executor.execute(work);
    } catch (RejectedExecutionException e) {
      answer.complete(
          new Answer.NotBegun(Answer.Health.OVERLOADED, "not begun: the executor of the handlers refused the task"));
    }
    return answer;
  }

  @Override
  public void close() {
    handlers.clear();
    listeners.clear();
  }

  /**
   * Interrupts all handlers that are running. If a handler then throws, its attempt has failed, and is repeated unless
   * the attempts of the task are used up.
   */
  public void interruptHandlers() {
    running.forEach(Work::interrupt);
  }

  private record Registered(Handler handler, FailureLog failures) {}

  /** One attempt on a thread of the executor. */
  private final class Work implements Runnable {
    private final Registered handler;
    private final DeliveryAttempt attempt;
    private final CompletableFuture<Answer> answer;

    // guarded by this
    private @Nullable Thread thread;
    private boolean interrupted;

    Work(Registered handler, DeliveryAttempt attempt, CompletableFuture<Answer> answer) {
      this.handler = handler;
      this.attempt = attempt;
      this.answer = answer;
    }

    @Override
    public void run() {
      if (!begins()) {
        return;
      }
      running.add(this);
      try {
        answer.complete(handler.handler.handle(attempt));
      } catch (Throwable thrown) {
        Throwable e = thrown instanceof NotedFailure noted && noted.getCause() != null ? noted.getCause() : thrown;
        handler.failures.failed(attempt.task().id().toString(), attempt.task().key(), attempt.task().attempt(), e,
            clock.monotonicNanos());
        Answer retry = new Answer.Retry(null, Answer.Health.WELL, e.toString());
        answer.complete(thrown instanceof NotedFailure noted ? new Answer.Noted(retry, noted.note) : retry);
        if (e instanceof Error error && !(e instanceof AssertionError || e instanceof LinkageError)) {
          throw error;
        }
      } finally {
        running.remove(this);
        ends();
      }
    }

    /** Returns false if the attempt was cancelled, for example by its timeout, before the executor ran it. */
    private synchronized boolean begins() {
      thread = Thread.currentThread();
      return !interrupted;
    }

    private synchronized void ends() {
      thread = null;
      if (interrupted) {
        // Clears the interrupt, so that the executor's next task on this thread does not see it.
        var unused = Thread.interrupted();
      }
    }

    synchronized void interrupt() {
      interrupted = true;
      if (thread != null) {
        thread.interrupt();
      }
    }
  }
}
