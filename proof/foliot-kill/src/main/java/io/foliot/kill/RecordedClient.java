package io.foliot.kill;

import io.foliot.api.Cancellation;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.client.BatchResult;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.KeyOutcome;
import io.foliot.client.KeyResult;
import io.foliot.client.NewTask;
import io.foliot.client.RefusedTask;
import io.foliot.client.SubmittedTask;
import io.foliot.client.TaskQuery;
import io.foliot.client.TaskView;
import io.foliot.client.TouchedKey;
import io.foliot.client.UnknownOutcomeException;
import io.foliot.client.UnreachableException;
import io.foliot.history.History;
import io.foliot.history.Reply;
import io.foliot.history.Request;
import io.foliot.history.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client that records each call before it is made, and each answer. If a recorded call fails, the method does not
 * throw. A method with a result then returns null, or an empty list for a batch. {@link #has} is not recorded, and may
 * throw.
 */
final class RecordedClient {
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;
  private static final int FULL = 507;
  private static final String ALREADY_FINISHED = "urn:foliot:problem:already-finished";

  private final FoliotClient client;
  private final History history;

  /**
   * Wraps a client.
   *
   * @param client a client that does not retry
   */
  RecordedClient(FoliotClient client, History history) {
    this.client = client;
    this.history = history;
  }

  private static long now() {
    return System.currentTimeMillis();
  }

  private <T> @Nullable T perform(long invokedMillis, Request request, Supplier<T> call, Function<T, Reply> reply) {
    long op = history.invoked(invokedMillis, request);
    T answer;
    try {
      answer = call.get();
    } catch (FoliotException | UnknownOutcomeException | UnreachableException e) {
      history.answered(op, now(), failure(e));
      return null;
    }
    history.answered(op, now(), reply.apply(answer));
    return answer;
  }

  private static Reply failure(RuntimeException failure) {
    return switch (failure) {
      case UnreachableException e -> new Reply.Failed("unreachable");
      case FoliotException e when e.status() == NOT_FOUND || e.type().equals(ALREADY_FINISHED) -> new Reply.NotFound();
      case FoliotException e when isRefusal(e.status()) -> new Reply.Failed(e.status() + " " + e.type());
      case FoliotException e -> new Reply.Unknown(e.status() + " " + e.type());
      default -> new Reply.Unknown(failure.toString());
    };
  }

  /** Returns whether a status proves that nothing was done. A status such as 500 does not prove this. */
  private static boolean isRefusal(int status) {
    return status < 500 || status == UNAVAILABLE || status == FULL;
  }

  /** Returns the earliest due time of a task that is submitted now. */
  private static long notBefore(NewTask task, long nowMillis) {
    Instant dueAt = task.dueAt();
    Duration delay = task.delay();
    return dueAt != null ? dueAt.toEpochMilli() : nowMillis + Objects.requireNonNull(delay).toMillis();
  }

  private static Request.Submit request(String queue, NewTask task, long nowMillis) {
    OnConflict onConflict = task.onConflict() == null ? OnConflict.RESET : task.onConflict();
    return new Request.Submit(queue, task.key(), notBefore(task, nowMillis),
        Request.OnConflict.valueOf(onConflict.name()), task.idempotencyKey());
  }

  /**
   * Submits a task.
   *
   * @param repeated whether the task may have been submitted before, under the same idempotency key
   */
  @Nullable
  SubmittedTask submit(String queue, NewTask task, boolean repeated) {
    long now = now();
    return perform(now, request(queue, task, now), () -> client.submit(queue, task),
        answer -> placed(task, repeated, answer));
  }

  /**
   * Returns the recorded reply. For a task with a key, the answer does not show whether the key had a live task, or
   * whether that task has run. Such an answer proves only the task and its generation, as the answer to a repeated
   * submit does.
   */
  private static Reply placed(NewTask task, boolean repeated, SubmittedTask answer) {
    boolean certain = !repeated && task.key() == null;
    return new Reply.Placed(certain ? Reply.Result.CREATED : Reply.Result.REPEATED, answer.id(), answer.generation(),
        answer.dueAt().toEpochMilli());
  }

  /** Submits tasks that were never submitted before. Returns the accepted tasks, in order; none if the call fails. */
  List<SubmittedTask> submitBatch(String queue, List<NewTask> tasks) {
    long now = now();
    List<Long> ops = tasks.stream().map(task -> history.invoked(now, request(queue, task, now))).toList();
    List<SubmittedTask> submitted = new ArrayList<>();
    try {
      List<BatchResult> results = client.submitBatch(queue, tasks);
      for (int i = 0; i < tasks.size(); i++) {
        Reply reply = switch (results.get(i)) {
          case SubmittedTask task -> {
            submitted.add(task);
            yield placed(tasks.get(i), false, task);
          }
          case RefusedTask problem -> new Reply.Failed(problem.type());
        };
        history.answered(ops.get(i), now(), reply);
      }
    } catch (FoliotException | UnknownOutcomeException | UnreachableException e) {
      ops.forEach(op -> history.answered(op, now(), failure(e)));
    }
    return submitted;
  }

  @Nullable
  KeyResult put(String queue, String key, NewTask task) {
    long now = now();
    return perform(now, new Request.Reset(queue, key, notBefore(task, now)), () -> client.putKey(queue, key, task),
        answer -> new Reply.Placed(Reply.Result.valueOf(answer.result().name()), answer.id(), answer.generation(),
            answer.dueAt().toEpochMilli()));
  }

  /** Touches tasks by key, then reads each touched task by its key, because the answer contains no ids of tasks. */
  void touch(String queue, List<String> keys, Duration delay) {
    long now = now();
    List<Long> ops = keys.stream()
        .map(key -> history.invoked(now, new Request.Touch(queue, key, now + delay.toMillis()))).toList();
    List<TouchedKey> results;
    long answeredMillis;
    try {
      results = client.touchKeys(queue, keys, delay);
      answeredMillis = now();
    } catch (FoliotException | UnknownOutcomeException | UnreachableException e) {
      ops.forEach(op -> history.answered(op, now(), failure(e)));
      return;
    }
    for (int i = 0; i < keys.size(); i++) {
      history.answered(ops.get(i), answeredMillis, touched(queue, results.get(i)));
    }
  }

  private Reply touched(String queue, TouchedKey result) {
    if (result.result() == KeyOutcome.NOT_FOUND) {
      return new Reply.NotFound();
    }
    long generation = Objects.requireNonNull(result.generation());
    TaskView task = read(queue, result.key());
    // If the task has a lower generation, it still runs, and the touched generation is its successor. A task with a
    // higher generation may be another task of the key.
    return task == null || task.generation() > generation
        ? new Reply.Done()
        : new Reply.Placed(Reply.Result.valueOf(result.result().name()), task.id(), generation,
            Objects.requireNonNull(result.dueAt()).toEpochMilli());
  }

  void cancel(String id) {
    perform(now(), new Request.Cancel(new Target.Task(id)), () -> client.cancel(id), RecordedClient::cancelled);
  }

  void cancel(String queue, String key) {
    perform(now(), new Request.Cancel(new Target.Key(queue, key)), () -> client.cancelByKey(queue, key),
        RecordedClient::cancelled);
  }

  private static Reply cancelled(Cancellation result) {
    return result == Cancellation.NOT_FOUND
        ? new Reply.NotFound()
        : new Reply.Cancelled(Reply.CancelResult.valueOf(result.name()), Reply.NO_GENERATION);
  }

  void runNow(String id) {
    perform(now(), new Request.RunNow(new Target.Task(id)), () -> {
      client.runNow(id);
      return id;
    }, answer -> new Reply.Done());
  }

  @Nullable
  TaskView read(String id) {
    return perform(now(), new Request.Read(new Target.Task(id)), () -> client.getTask(id), RecordedClient::found);
  }

  @Nullable
  TaskView read(String queue, String key) {
    return perform(now(), new Request.Read(new Target.Key(queue, key)), () -> client.getByKey(queue, key),
        RecordedClient::found);
  }

  /** Records the state of a task that a list has returned. */
  void listed(long invokedMillis, TaskView task) {
    long op = history.invoked(invokedMillis, new Request.Read(new Target.Task(task.id())));
    history.answered(op, now(), found(task));
  }

  private static Reply found(TaskView task) {
    Reply.State state = switch (task.state()) {
      case FINISHED -> Reply.State.FINISHED;
      case FAILED -> Reply.State.FAILED;
      case CANCELLED -> Reply.State.CANCELLED;
      case DELAYED, READY, RUNNING -> Reply.State.LIVE;
    };
    return new Reply.Found(task.id(), task.generation(), state);
  }

  /** Returns whether a queue has tasks in a state. */
  boolean has(String queue, TaskState state) {
    return !client.listTasks(queue, TaskQuery.all().inState(state), 1, null).tasks().isEmpty();
  }
}
