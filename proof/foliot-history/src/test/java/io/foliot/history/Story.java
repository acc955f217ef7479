package io.foliot.history;

import static io.foliot.history.Event.Reception.SUCCESS;

import org.jspecify.annotations.Nullable;

/**
 * A history that a test writes by hand. All tasks are in one queue, and the task of a key is named after the key. Times
 * are in milliseconds.
 */
final class Story {
  static final String QUEUE = "q";

  private final History history = History.inMemory();

  History history() {
    return history;
  }

  static String taskOf(String key) {
    return "task-" + key;
  }

  static Target key(String key) {
    return new Target.Key(QUEUE, key);
  }

  Story op(long invoked, long answered, Request request, Reply reply) {
    history.answered(history.invoked(invoked, request), answered, reply);
    return this;
  }

  Story unanswered(long invoked, Request request) {
    history.invoked(invoked, request);
    return this;
  }

  /** Records a PUT under a key, and a response with the requested due time. */
  Story put(long invoked, long answered, String key, long generation, long due, Reply.Result result) {
    return op(invoked, answered, new Request.Reset(QUEUE, key, due),
        new Reply.Placed(result, taskOf(key), generation, due));
  }

  Story created(long invoked, long answered, String key, long generation, long due) {
    return put(invoked, answered, key, generation, due, Reply.Result.CREATED);
  }

  Story reset(long invoked, long answered, String key, long generation, long due) {
    return put(invoked, answered, key, generation, due, Reply.Result.RESET);
  }

  Story pending(long invoked, long answered, String key, long generation, long due) {
    return put(invoked, answered, key, generation, due, Reply.Result.RESET_PENDING);
  }

  Story lostPut(long invoked, String key, long due) {
    return unanswered(invoked, new Request.Reset(QUEUE, key, due));
  }

  /** Records a submit without a key. */
  Story submit(long invoked, long answered, @Nullable String idempotencyKey, String task, long generation, long due) {
    return op(invoked, answered, submission(null, idempotencyKey, due),
        new Reply.Placed(Reply.Result.CREATED, task, generation, due));
  }

  static Request.Submit submission(@Nullable String key, @Nullable String idempotencyKey, long due) {
    return new Request.Submit(QUEUE, key, due, Request.OnConflict.RESET, idempotencyKey);
  }

  Story cancel(long invoked, long answered, String key, Reply.CancelResult result) {
    return cancel(invoked, answered, key, result, Reply.NO_GENERATION);
  }

  Story cancel(long invoked, long answered, String key, Reply.CancelResult result, long generation) {
    return op(invoked, answered, new Request.Cancel(key(key)), new Reply.Cancelled(result, generation));
  }

  Story read(long invoked, long answered, String key, long generation, Reply.State state) {
    return op(invoked, answered, new Request.Read(key(key)), new Reply.Found(taskOf(key), generation, state));
  }

  /** Records an attempt that succeeds after a millisecond. */
  Story delivered(long at, String key, long generation, int attempt) {
    return attempt(at, key, generation, attempt, SUCCESS);
  }

  Story attempt(long at, String key, long generation, int attempt, Event.Reception reception) {
    return attempt(at, new Attempt(taskOf(key), QUEUE, key, generation, firingId(taskOf(key), generation), attempt, 0),
        reception);
  }

  /** Records an attempt, of a task without a key, that succeeds after a millisecond. */
  Story deliveredTask(long at, String task, long generation, int attempt) {
    return attempt(at, new Attempt(task, QUEUE, null, generation, firingId(task, generation), attempt, 0), SUCCESS);
  }

  Story attempt(long at, Attempt attempt, Event.Reception reception) {
    history.replied(history.began(at, attempt), at + 1, reception);
    return this;
  }

  /** Records an attempt to which the receiver never responds. */
  Story began(long at, String key, long generation, int attempt) {
    history.began(at, new Attempt(taskOf(key), QUEUE, key, generation, firingId(taskOf(key), generation), attempt, 0));
    return this;
  }

  static String firingId(String task, long generation) {
    return task + "/" + generation;
  }

  Story fault(long from, long to, Event.Fault fault) {
    history.faultEnded(history.faultBegan(from, fault, "node 1"), to);
    return this;
  }

  /** Records a crash that loses the writes since {@code from}. The crash ends 100 ms after {@code at}. */
  Story forgot(long at, long from) {
    history.forgot(at, from);
    return fault(at, at + 100, Event.Fault.KILL);
  }

  Verdict end(long at, Allowances allowances) {
    history.runEnded(at);
    return new HistoryChecker(allowances).check(history);
  }

  /** Ends and checks the history, with one clock, a timeout of 50 ms, 10 ms to settle and a grace time of 1 s. */
  Verdict end(long at) {
    return end(at, Allowances.exact(50, 10, 1000));
  }
}
