package io.foliot.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A model of a scheduler: two nodes over one store, with clients and a receiver. The model is small, so it can be
 * assumed to be correct, except for one bug that a test may choose. It runs in virtual time and records a history for
 * the checker.
 */
final class ModelScheduler {
  /** A defect of the model, with the kind of violation that it causes, and whether the violation needs a fault. */
  enum Bug {
    NONE(false, null),
    /** A kill of both nodes undoes submits that were acked just before. */
    ACK_BEFORE_DURABLE(true, Violation.Kind.LOST),
    /** A kill of both nodes brings a replaced generation back. */
    RESET_BEFORE_DURABLE(true, Violation.Kind.STALE),
    /** A kill of both nodes brings a cancelled task back. */
    CANCEL_BEFORE_DURABLE(true, Violation.Kind.CANCEL),
    /** Tasks that became due while no node was up are skipped. */
    SKIPS_OVERDUE(true, Violation.Kind.LOST),
    /** A claim whose node died is never taken over. */
    LEASE_NEVER_ENDS(true, Violation.Kind.LOST),
    /** A settle changes the task although its token is no longer valid. */
    SETTLES_WITHOUT_TOKEN(true, Violation.Kind.LOST),
    /** After a kill of both nodes, the generations of each key begin again at 1. */
    GENERATIONS_RESTART(true, Violation.Kind.FIRING),
    /** After a kill of both nodes, the attempts are numbered from 1 again. */
    ATTEMPTS_RESTART(true, Violation.Kind.FENCE),
    /** A success is not recorded. */
    SETTLE_IGNORED(false, Violation.Kind.ZOMBIE), FIRES_EARLY_BY_ONE(false, Violation.Kind.EARLY),
    /** A task is due after half of the requested delay. */
    SHORTENS_DELAY(false, Violation.Kind.EARLY),
    /** A successor runs before it is due. */
    SUCCESSOR_AT_ONCE(false, Violation.Kind.EARLY),
    /** A reset is answered, but the task runs at the old due time. */
    TOUCH_CHANGES_NOTHING(false, Violation.Kind.EARLY), CANCEL_CHANGES_NOTHING(false, Violation.Kind.CANCEL),
    /** A cancel of a task with an open claim is answered CANCELLED. */
    CANCEL_IGNORES_CLAIM(false, Violation.Kind.CANCEL),
    /** A task with CANCEL_PENDING is claimed again. */
    CANCEL_PENDING_IS_RETRIED(false, Violation.Kind.CANCEL),
    /** A reset of a task with an open claim is answered RESET. */
    RESET_IGNORES_CLAIM(false, Violation.Kind.STALE),
    /** A task with a successor is claimed again. */
    RESET_PENDING_IS_RETRIED(false, Violation.Kind.STALE),
    /** A reset adds a generation and leaves the old one alive. */
    RESET_KEEPS_OLD(false, Violation.Kind.STALE), FORGETS_SUCCESSOR(false, Violation.Kind.LOST),
    /** A submit is answered KEPT, but resets the task. */
    KEEP_RESETS(false, Violation.Kind.GHOST),
    /** A submit is answered 409, but resets the task. */
    REJECT_RESETS(false, Violation.Kind.GHOST), IDEMPOTENCY_FORGOTTEN(false,
        Violation.Kind.FIRING), FIRING_ID_PER_ATTEMPT(false, Violation.Kind.FIRING), FIRING_ID_PER_TASK(false,
            Violation.Kind.FIRING), DELIVERS_UNDER_ANOTHER_KEY(false, Violation.Kind.FIRING),
    /** One claim leads to two attempts. */
    DOUBLE_DELIVERY(false, Violation.Kind.DUP),
    /** The same attempt is sent twice. */
    ATTEMPT_REPEATED(false, Violation.Kind.FENCE),
    /** The attempt number of a retry is lower than that of the attempt before. */
    ATTEMPTS_GO_BACK(false, Violation.Kind.FENCE), DELIVERS_GHOSTS(false, Violation.Kind.GHOST),
    /** After a failure the task is forgotten. */
    NO_RETRY(false, Violation.Kind.LOST),
    /** A timeout of an attempt finishes the task. */
    TIMEOUT_IS_SUCCESS(false, Violation.Kind.LOST), FINISHES_UNDELIVERED(false, Violation.Kind.LOST),
    /** A finished task is delivered once more, much later. */
    DELIVERS_FINISHED(false, Violation.Kind.ZOMBIE), FINAL_STATE_CHANGES(false, Violation.Kind.ZOMBIE);

    final boolean needsFaults;
    final Violation.@Nullable Kind kind;

    Bug(boolean needsFaults, Violation.@Nullable Kind kind) {
      this.needsFaults = needsFaults;
      this.kind = kind;
    }
  }

  private enum State {
    DELAYED, RUNNING, FINISHED, FAILED, CANCELLED;

    boolean isFinal() {
      return compareTo(RUNNING) > 0;
    }
  }

  private enum Outcome {
    SUCCESS, AGAIN, RETRY, REFUSED
  }

  private static final List<Request.OnConflict> ON_CONFLICTS = List.of(Request.OnConflict.values());
  private static final String QUEUE = "q";
  private static final int NODES = 2;
  private static final int KEYS = 5;
  private static final int MAX_ATTEMPTS = 4;
  private static final int OPERATIONS = 150;

  // Times and durations in ms. Operations and faults begin before RUN; the history ends at END.
  private static final int TRANSIT = 2;
  private static final int TIMEOUT = 60;
  private static final int LEASE = 150;
  private static final int RUN = 3000;
  private static final int GRACE = 2000;
  private static final int END = 20_000;

  static final Allowances ALLOWANCES = new Allowances(0, TRANSIT, TIMEOUT, 10, GRACE, false);

  private static final class Task {
    final String id;
    final @Nullable String key;
    long generation;
    long due;
    long wakeAt;
    State state = State.DELAYED;
    int attempts;
    long token;
    /** Whether a lease has ended without a settle, and the task has not been final since. */
    boolean outstanding;
    boolean cancel;
    boolean hasSuccessor;
    long nextGeneration;
    long nextDue;
    boolean forgotten;

    Task(String id, @Nullable String key) {
      this.id = id;
      this.key = key;
    }

    boolean isLive() {
      return !state.isFinal() && !forgotten;
    }

    Task copy() {
      Task copy = new Task(id, key);
      copy.assign(this);
      return copy;
    }

    void assign(Task other) {
      generation = other.generation;
      due = other.due;
      wakeAt = other.wakeAt;
      state = other.state;
      attempts = other.attempts;
      token = other.token;
      outstanding = other.outstanding;
      cancel = other.cancel;
      hasSuccessor = other.hasSuccessor;
      nextGeneration = other.nextGeneration;
      nextDue = other.nextDue;
      forgotten = other.forgotten;
    }
  }

  private record Step(long at, long order, Runnable action) {}

  private record Undo(long at, Runnable action) {}

  private record Claim(Task task, long generation, int attempt, long token, long due, int node, int life) {}

  private final Random random;
  private final Bug bug;
  private final boolean faults;
  private final History history = History.inMemory();

  // The world
  private final PriorityQueue<Step> steps = new PriorityQueue<>(
      Comparator.comparingLong(Step::at).thenComparingLong(Step::order));
  private long now;
  private long order;
  private long receiverHeldUntil;

  // The nodes
  private final boolean[] up = {true, true};
  /** Number of kills of each node. A kill drops the attempts, settles and answers that the node has not sent yet. */
  private final int[] life = new int[NODES];
  private final long[] pausedUntil = new long[NODES];

  // The store
  private final Map<String, Task> tasks = new LinkedHashMap<>();
  private final Map<String, Task> live = new HashMap<>();
  private final Map<String, Long> lastGeneration = new HashMap<>();
  private final Map<String, Reply> idempotent = new HashMap<>();
  private final List<Undo> undos = new ArrayList<>();
  private long tokens;
  private int ids;

  // The clients
  private final List<Request.Submit> repeatable = new ArrayList<>();

  ModelScheduler(long seed, Bug bug, boolean faults) {
    random = new Random(seed);
    this.bug = bug;
    this.faults = faults;
  }

  History run() {
    for (int i = 0; i < OPERATIONS; i++) {
      at(random.nextInt(RUN), this::operate);
    }
    if (faults) {
      for (int i = 0; i < 4; i++) {
        at(random.nextInt(RUN), this::breakSomething);
      }
    }
    if (bug == Bug.DELIVERS_GHOSTS) {
      at(RUN / 2, () -> deliver(new Claim(new Task("ghost", null), 1, 1, 0, now, 0, life[0])));
    }
    for (Step step = steps.poll(); step != null && step.at < END - 100; step = steps.poll()) {
      now = step.at;
      step.action.run();
    }
    now = END - 100;
    readAll();
    if (bug == Bug.FINAL_STATE_CHANGES) {
      tasks.values().stream().filter(task -> task.state == State.FINISHED).forEach(task -> task.state = State.FAILED);
      now += 20;
      readAll();
    }
    history.runEnded(END);
    return history;
  }

  private void at(long time, Runnable action) {
    steps.add(new Step(Math.max(time, now), order++, action));
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  // Faults

  private void breakSomething() {
    int node = random.nextInt(NODES);
    int duration = 1 + random.nextInt(400);
    switch (random.nextInt(4)) {
      case 0 -> kill(List.of(node), duration);
      case 1 -> kill(List.of(0, 1), duration);
      case 2 -> {
        if (up[node] && pausedUntil[node] <= now) {
          pausedUntil[node] = now + duration;
          window(Event.Fault.PAUSE, duration, () -> {});
        }
      }
      default -> {
        receiverHeldUntil = Math.max(receiverHeldUntil, now + duration);
        window(Event.Fault.RECEIVER, duration, () -> {});
      }
    }
  }

  private void kill(List<Integer> nodes, int duration) {
    if (nodes.stream().anyMatch(node -> !up[node])) {
      return;
    }
    for (int node : nodes) {
      up[node] = false;
      life[node]++;
      pausedUntil[node] = 0;
    }
    if (nodes.size() == NODES) {
      loseWrites();
    }
    window(Event.Fault.KILL, duration, () -> nodes.forEach(node -> up[node] = true));
  }

  private void loseWrites() {
    if (bug == Bug.ACK_BEFORE_DURABLE || bug == Bug.RESET_BEFORE_DURABLE || bug == Bug.CANCEL_BEFORE_DURABLE) {
      // The writes of the last 80 ms were not durable.
      for (int i = undos.size() - 1; i >= 0 && undos.get(i).at > now - 80; i--) {
        undos.get(i).action.run();
      }
      undos.clear();
    } else if (bug == Bug.GENERATIONS_RESTART) {
      lastGeneration.clear();
    } else if (bug == Bug.ATTEMPTS_RESTART) {
      tasks.values().forEach(task -> task.attempts = 0);
    }
  }

  private void window(Event.Fault fault, int duration, Runnable heal) {
    long window = history.faultBegan(now, fault, "for " + duration + " ms");
    at(now + duration, () -> {
      heal.run();
      history.faultEnded(window, now);
    });
  }

  /** Returns a random node that is up and not paused, or -1 if there is none. */
  private int actingNode() {
    int first = random.nextInt(NODES);
    for (int i = 0; i < NODES; i++) {
      int node = (first + i) % NODES;
      if (up[node] && pausedUntil[node] <= now) {
        return node;
      }
    }
    return -1;
  }

  // Clients

  private void operate() {
    String key = "k" + random.nextInt(KEYS);
    long delay = chance(10) ? -5 : random.nextInt(chance(30) ? 20 : 700);
    long notBefore = now + delay;
    Task any = tasks.isEmpty() ? null : List.copyOf(tasks.values()).get(random.nextInt(tasks.size()));
    Target target = any == null || chance(60) ? new Target.Key(QUEUE, key) : new Target.Task(any.id);
    int kind = random.nextInt(100);
    if (kind < 30) {
      submit(new Request.Submit(QUEUE, chance(50) ? key : null, notBefore,
          ON_CONFLICTS.get(random.nextInt(ON_CONFLICTS.size())), chance(30) ? "i" + ids++ : null), delay);
    } else if (kind < 35 && !repeatable.isEmpty()) {
      Request.Submit first = repeatable.get(random.nextInt(repeatable.size()));
      submit(new Request.Submit(QUEUE, first.key(), notBefore, first.onConflict(), first.idempotencyKey()), delay);
    } else if (kind < 60) {
      call(new Request.Reset(QUEUE, key, notBefore), () -> reset(key, now + delay, Request.OnConflict.RESET));
    } else if (kind < 72) {
      call(new Request.Touch(QUEUE, key, notBefore),
          () -> touch(key, now + delay));
    } else if (kind < 85) {
      call(new Request.Cancel(target), () -> cancel(find(target)));
    } else if (kind < 90) {
      call(new Request.RunNow(target), () -> runNow(find(target)));
    } else if (kind < 95 && any != null) {
      call(new Request.Redrive(QUEUE, any.id), () -> redrive(any));
    } else {
      call(new Request.Read(target), () -> read(find(target)));
    }
  }

  private void submit(Request.Submit submit, long delay) {
    if (submit.idempotencyKey() != null) {
      repeatable.add(submit);
    }
    call(submit, () -> {
      Reply known = submit.idempotencyKey() == null ? null : idempotent.get(submit.idempotencyKey());
      if (known instanceof Reply.Placed placed && bug != Bug.IDEMPOTENCY_FORGOTTEN) {
        return chance(50)
            ? known
            : new Reply.Placed(Reply.Result.REPEATED, placed.taskId(), placed.generation(), placed.dueAtMillis());
      }
      Reply reply = submit.key() == null
          ? create(null, now + delay)
          : reset(submit.key(), now + delay, submit.onConflict());
      if (submit.idempotencyKey() != null && !(reply instanceof Reply.Failed)) {
        idempotent.put(submit.idempotencyKey(), reply);
      }
      return reply;
    });
  }

  /** Sends a request. Without a fault it takes effect after up to 5 ms and is answered up to 5 ms after that. */
  private void call(Request request, Supplier<Reply> effect) {
    long op = history.invoked(now, request);
    at(now + random.nextInt(6), () -> {
      int node = actingNode();
      if (node < 0) {
        if (!up[0] && !up[1]) {
          history.answered(op, now, new Reply.Failed("connection refused"));
        } else {
          // A paused node has read the request, and serves it when the pause ends.
          at(Math.max(pausedUntil[0], pausedUntil[1]), () -> {
            if (actingNode() >= 0) {
              history.answered(op, now, new Reply.Unknown("timed out before " + effect.get()));
            }
          });
        }
        return;
      }
      Reply reply = effect.get();
      int served = life[node];
      at(now + random.nextInt(6), () -> {
        if (served == life[node] && !(faults && chance(4))) {
          history.answered(op, now, reply);
        } else if (chance(50)) {
          history.answered(op, now, new Reply.Unknown("connection reset"));
        }
      });
    });
  }

  private @Nullable Task find(Target target) {
    return switch (target) {
      case Target.Key key -> live.get(key.key());
      case Target.Task task -> tasks.get(task.taskId());
    };
  }

  private void readAll() {
    for (Task task : tasks.values()) {
      long op = history.invoked(now, new Request.Read(new Target.Task(task.id)));
      history.answered(op, now + 1, read(task));
    }
  }

  // The store's operations

  private long nextGeneration(@Nullable String key, long last) {
    String name = key == null ? "" : key;
    long floor = bug == Bug.GENERATIONS_RESTART ? 1 : now;
    long generation = Math.max(floor, Math.max(last, key == null ? 0 : lastGeneration.getOrDefault(name, 0L)) + 1);
    lastGeneration.put(name, generation);
    return generation;
  }

  private long due(long requested) {
    return bug == Bug.SHORTENS_DELAY && requested > now ? now + (requested - now) / 2 : requested;
  }

  private Reply create(@Nullable String key, long requested) {
    Task task = new Task("t" + ids++, key);
    task.generation = nextGeneration(key, 0);
    task.due = due(requested);
    tasks.put(task.id, task);
    if (key != null) {
      live.put(key, task);
    }
    undo(Bug.ACK_BEFORE_DURABLE, () -> {
      task.forgotten = true;
      tasks.remove(task.id);
      end(task);
    });
    wakeAt(task, task.due);
    return new Reply.Placed(Reply.Result.CREATED, task.id, task.generation, task.due);
  }

  private Reply reset(String key, long requested, Request.OnConflict onConflict) {
    Task task = live.get(key);
    if (task == null) {
      return create(key, requested);
    }
    boolean successor = task.hasSuccessor && chance(50);
    long generation = successor ? task.nextGeneration : task.generation;
    long kept = successor ? task.nextDue : Math.max(task.due, task.wakeAt);
    if (onConflict == Request.OnConflict.KEEP && bug != Bug.KEEP_RESETS) {
      return new Reply.Placed(Reply.Result.KEPT, task.id, generation, kept);
    }
    if (onConflict == Request.OnConflict.REJECT && bug != Bug.REJECT_RESETS) {
      return new Reply.Failed("409");
    }
    Task before = task.copy();
    undo(Bug.RESET_BEFORE_DURABLE, () -> {
      task.assign(before);
      wakeAt(task, task.due);
    });
    Reply reply = replace(task, due(requested));
    return switch (onConflict) {
      case RESET -> reply;
      case KEEP -> new Reply.Placed(Reply.Result.KEPT, task.id, generation, kept);
      case REJECT -> new Reply.Failed("409");
    };
  }

  private Reply touch(String key, long requested) {
    Task task = live.get(key);
    return task == null || task.cancel ? new Reply.NotFound() : reset(key, requested, Request.OnConflict.RESET);
  }

  private Reply replace(Task task, long due) {
    long generation = nextGeneration(task.key, task.generation);
    if (task.state == State.RUNNING && bug != Bug.RESET_IGNORES_CLAIM) {
      task.cancel = false;
      task.hasSuccessor = true;
      task.nextGeneration = generation;
      task.nextDue = due;
      return new Reply.Placed(Reply.Result.RESET_PENDING, task.id, generation, due);
    }
    if (bug == Bug.RESET_KEEPS_OLD && chance(30)) {
      Task old = task.copy();
      at(Math.max(old.due, now), () -> wake(old));
    }
    Reply.Result result = task.outstanding ? Reply.Result.RESET_PENDING : Reply.Result.RESET;
    long oldDue = task.due;
    begin(task, generation, due);
    if (bug == Bug.TOUCH_CHANGES_NOTHING) {
      wakeAt(task, oldDue);
    }
    return new Reply.Placed(result, task.id, generation, due);
  }

  /** Replaces the generation of a task by a new one. */
  private void begin(Task task, long generation, long due) {
    task.generation = generation;
    task.due = due;
    task.attempts = 0;
    task.cancel = false;
    task.hasSuccessor = false;
    task.state = State.DELAYED;
    task.token = 0;
    wakeAt(task, due);
  }

  private Reply cancel(@Nullable Task task) {
    if (task == null) {
      return new Reply.NotFound();
    }
    if (!task.isLive()) {
      return new Reply.Cancelled(Reply.CancelResult.ALREADY_FINISHED, Reply.NO_GENERATION);
    }
    long generation = chance(50) || task.hasSuccessor ? Reply.NO_GENERATION : task.generation;
    if (bug == Bug.CANCEL_CHANGES_NOTHING) {
      return new Reply.Cancelled(Reply.CancelResult.CANCELLED, generation);
    }
    if (task.state == State.RUNNING && bug != Bug.CANCEL_IGNORES_CLAIM) {
      task.cancel = true;
      task.hasSuccessor = false;
      return new Reply.Cancelled(Reply.CancelResult.CANCEL_PENDING, generation);
    }
    Task before = task.copy();
    boolean pending = task.outstanding;
    finish(task, State.CANCELLED);
    undo(Bug.CANCEL_BEFORE_DURABLE, () -> {
      if (task.key == null || !live.containsKey(task.key)) {
        task.assign(before);
        if (task.key != null) {
          live.put(task.key, task);
        }
        wakeAt(task, task.wakeAt);
      }
    });
    return new Reply.Cancelled(pending ? Reply.CancelResult.CANCEL_PENDING : Reply.CancelResult.CANCELLED, generation);
  }

  private Reply runNow(@Nullable Task task) {
    if (task == null || !task.isLive() || task.cancel) {
      return new Reply.NotFound();
    }
    Reply reply = replace(task, now);
    return chance(30) ? new Reply.Done() : reply;
  }

  private Reply redrive(Task task) {
    if (task.state != State.FAILED || task.forgotten || (task.key != null && live.containsKey(task.key))) {
      return new Reply.Failed("409");
    }
    if (task.key != null) {
      live.put(task.key, task);
    }
    begin(task, nextGeneration(task.key, task.generation), now);
    return chance(30)
        ? new Reply.Done()
        : new Reply.Placed(Reply.Result.CREATED, task.id, task.generation, task.due);
  }

  private static Reply read(@Nullable Task task) {
    if (task == null || task.forgotten) {
      return new Reply.NotFound();
    }
    Reply.State state = switch (task.state) {
      case DELAYED, RUNNING -> Reply.State.LIVE;
      case FINISHED -> Reply.State.FINISHED;
      case FAILED -> Reply.State.FAILED;
      case CANCELLED -> Reply.State.CANCELLED;
    };
    return new Reply.Found(task.id, task.generation, state);
  }

  private void undo(Bug when, Runnable action) {
    if (bug == when) {
      undos.add(new Undo(now, action));
    }
  }

  private void end(Task task) {
    if (task.key != null && live.get(task.key) == task) {
      live.remove(task.key);
    }
  }

  private void finish(Task task, State state) {
    task.state = state;
    task.outstanding = false;
    task.cancel = false;
    task.hasSuccessor = false;
    end(task);
  }

  // The engine

  private void wakeAt(Task task, long wakeAt) {
    task.wakeAt = wakeAt;
    int late = chance(60) ? 0 : random.nextInt(5);
    at(wakeAt + late - (bug == Bug.FIRES_EARLY_BY_ONE ? 1 : 0), () -> wake(task));
  }

  private void wake(Task task) {
    long early = bug == Bug.FIRES_EARLY_BY_ONE ? 1 : 0;
    if (task.state != State.DELAYED || task.forgotten || task.wakeAt > now + early) {
      return;
    }
    int node = actingNode();
    if (node < 0) {
      if (bug != Bug.SKIPS_OVERDUE) {
        at(now + 20, () -> wake(task));
      }
      return;
    }
    if (bug == Bug.FINISHES_UNDELIVERED && chance(10)) {
      finish(task, State.FINISHED);
      return;
    }
    claim(task, node);
  }

  private void claim(Task task, int node) {
    task.state = State.RUNNING;
    task.attempts++;
    task.token = ++tokens;
    int attempt = bug == Bug.ATTEMPTS_GO_BACK ? 100 - task.attempts : task.attempts;
    Claim claim = new Claim(task, task.generation, attempt, task.token, task.due, node, life[node]);
    int delay = chance(60) ? 0 : random.nextInt(chance(20) ? 30 : 4);
    at(now + delay, () -> send(claim));
    if (bug == Bug.DOUBLE_DELIVERY && chance(30)) {
      task.attempts++;
      at(now + delay,
          () -> send(new Claim(task, task.generation, attempt + 1, claim.token, task.due, node, life[node])));
    } else if (bug == Bug.ATTEMPT_REPEATED && chance(30)) {
      at(now + delay + 1, () -> send(claim));
    }
    at(now + LEASE, () -> endLease(claim));
  }

  private void endLease(Claim claim) {
    Task task = claim.task;
    if (task.token != claim.token || task.state != State.RUNNING || bug == Bug.LEASE_NEVER_ENDS) {
      return;
    }
    task.outstanding = true;
    continueTask(task, 0);
  }

  /** Continues a task after an attempt that did not end the task. */
  private void continueTask(Task task, long backoff) {
    if (task.hasSuccessor && bug != Bug.RESET_PENDING_IS_RETRIED) {
      takeOver(task);
    } else if (task.cancel && bug != Bug.CANCEL_PENDING_IS_RETRIED) {
      finish(task, State.CANCELLED);
    } else if (task.attempts >= MAX_ATTEMPTS) {
      end(task, State.FAILED);
    } else {
      task.state = State.DELAYED;
      wakeAt(task, now + backoff);
    }
  }

  private void end(Task task, State state) {
    if (task.hasSuccessor) {
      takeOver(task);
    } else {
      finish(task, state);
    }
  }

  private void takeOver(Task task) {
    if (bug == Bug.FORGETS_SUCCESSOR) {
      finish(task, State.FINISHED);
      return;
    }
    begin(task, task.nextGeneration, task.nextDue);
    if (bug == Bug.SUCCESSOR_AT_ONCE) {
      wakeAt(task, now);
    }
  }

  /** Sends an attempt. A paused node sends the attempt when the pause ends, without checking the lease. */
  private void send(Claim claim) {
    if (life[claim.node] != claim.life) {
      return;
    }
    if (pausedUntil[claim.node] > now) {
      at(pausedUntil[claim.node], () -> send(claim));
      return;
    }
    at(now + TIMEOUT, () -> timeout(claim));
    deliver(claim);
  }

  private void deliver(Claim claim) {
    long begun = now;
    long arrival = Math.max(now, receiverHeldUntil) + random.nextInt(TRANSIT + 1);
    at(arrival, () -> receive(claim, begun));
  }

  private void timeout(Claim claim) {
    settle(claim, bug == Bug.TIMEOUT_IS_SUCCESS ? Outcome.SUCCESS : Outcome.RETRY);
  }

  private void settle(Claim claim, Outcome outcome) {
    if (life[claim.node] != claim.life) {
      return;
    }
    if (pausedUntil[claim.node] > now) {
      at(pausedUntil[claim.node], () -> settle(claim, outcome));
      return;
    }
    Task task = claim.task;
    boolean valid = task.token == claim.token && task.state == State.RUNNING;
    if (!valid && !(bug == Bug.SETTLES_WITHOUT_TOKEN && task.isLive())) {
      return;
    }
    switch (outcome) {
      case SUCCESS -> {
        if (bug != Bug.SETTLE_IGNORED || chance(80)) {
          end(task, State.FINISHED);
          if (bug == Bug.DELIVERS_FINISHED && chance(30)) {
            at(now + 500, () -> send(new Claim(task, claim.generation, claim.attempt + 1, claim.token, claim.due,
                claim.node, claim.life)));
          }
        }
      }
      case AGAIN -> {
        if (task.hasSuccessor) {
          takeOver(task);
        } else if (task.cancel) {
          finish(task, State.CANCELLED);
        } else {
          begin(task, nextGeneration(task.key, task.generation), now + random.nextInt(100));
        }
      }
      case RETRY -> {
        if (bug == Bug.NO_RETRY) {
          task.forgotten = true;
          end(task);
        } else {
          continueTask(task, 10 + random.nextInt(40));
        }
      }
      case REFUSED -> end(task, State.FAILED);
    }
  }

  // The receiver

  private void receive(Claim claim, long begun) {
    Task task = claim.task;
    String firingId = switch (bug) {
      case FIRING_ID_PER_ATTEMPT -> "f-" + task.id + "-" + claim.generation + "-" + claim.attempt;
      case FIRING_ID_PER_TASK -> "f-" + task.id;
      default -> "f-" + task.id + "-" + claim.generation;
    };
    String key = bug == Bug.DELIVERS_UNDER_ANOTHER_KEY && chance(5) ? "other" : task.key;
    // The attempt never names a future due time. A future time alone would reveal each bug that fires early.
    long delivery = history.began(now,
        new Attempt(task.id, QUEUE, key, claim.generation, firingId, claim.attempt, Math.min(claim.due, now)));
    int kind = random.nextInt(100);
    if (kind < 70) {
      reply(delivery, claim, begun, 1 + random.nextInt(20), Event.Reception.SUCCESS, Outcome.SUCCESS);
    } else if (kind < 75) {
      reply(delivery, claim, begun, 1 + random.nextInt(20), Event.Reception.AGAIN, Outcome.AGAIN);
    } else if (kind < 88) {
      reply(delivery, claim, begun, 1 + random.nextInt(20), Event.Reception.RETRY, Outcome.RETRY);
    } else if (kind < 90) {
      reply(delivery, claim, begun, 1 + random.nextInt(20), Event.Reception.REFUSED, Outcome.REFUSED);
    } else if (kind < 96) {
      reply(delivery, claim, begun, 50 + random.nextInt(20), Event.Reception.SUCCESS, Outcome.SUCCESS);
    }
  }

  private void reply(long delivery, Claim claim, long begun, int delay, Event.Reception reception, Outcome outcome) {
    at(now + delay, () -> {
      boolean late = now > begun + TIMEOUT;
      boolean gone = late && reception == Event.Reception.SUCCESS;
      // No late answer is read. A late SUCCESS is recorded as GONE, because its work is done; other late answers are
      // recorded as RETRY.
      boolean unread = late && !gone;
      history.replied(delivery, now, gone ? Event.Reception.GONE : unread ? Event.Reception.RETRY : reception);
      at(now + random.nextInt(TRANSIT + 1), () -> {
        if (now <= begun + TIMEOUT) {
          settle(claim, outcome);
        }
      });
    });
  }
}
