package io.foliot.core.delivery;

import io.foliot.core.Target;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Handlers in this process, by queue. */
public final class LocalDelivery implements Delivery {
  private final Executor executor;
  private final Map<String, Handler> handlers = new ConcurrentHashMap<>();

  /** Handlers run on this executor; it must not refuse while the scheduler runs. */
  public LocalDelivery(Executor executor) {
    this.executor = executor;
  }

  /** Code that does the work of a task. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Does the work.
     *
     * @throws Exception to have it tried again
     */
    Answer handle(Attempt attempt) throws Exception;
  }

  /** Sets the handler of a queue. */
  public LocalDelivery handle(String queue, Handler handler) {
    handlers.put(queue, handler);
    return this;
  }

  @Override
  public String type() {
    return Target.LOCAL;
  }

  @Override
  public void check(Target target) {
    if (!target.type().equals(Target.LOCAL)) {
      throw new IllegalArgumentException("a local delivery is of type local: type=" + target.type());
    }
  }

  @Override
  public String destination(Target target) {
    return Target.LOCAL;
  }

  @Override
  public CompletionStage<Answer> deliver(Attempt attempt) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    Handler handler = handlers.get(attempt.task().queue());
    if (handler == null) {
      answer.complete(new Answer.Retry(null, Answer.Health.WELL,
          "this node has no handler for the queue; register one with LocalDelivery.handle"));
      return answer;
    }
    try {
      executor.execute(() -> run(handler, attempt, answer));
    } catch (RejectedExecutionException e) {
      answer
          .complete(new Answer.Retry(null, Answer.Health.OVERLOADED, "the executor of the handlers refused the task"));
    }
    return answer;
  }

  private static void run(Handler handler, Attempt attempt, CompletableFuture<Answer> answer) {
    try {
      answer.complete(handler.handle(attempt));
    } catch (Throwable e) {
      answer.complete(new Answer.Retry(null, Answer.Health.WELL, e.toString()));
      if (e instanceof Error error && !(e instanceof AssertionError || e instanceof LinkageError)) {
        throw error;
      }
    }
  }

  @Override
  public void close() {
    handlers.clear();
  }
}
