package io.foliot.sim;

import io.foliot.api.TaskNote;
import io.foliot.core.Scheduler.Pull;
import io.foliot.core.Token;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.engine.Engine;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A worker of the pull queue. One process of the worker runs at a time. The process polls a node, runs the tasks that
 * it gets, extends a lease after each third of its length, and reports the ends. A process can die, be paused, move to
 * another node, or be cut off while it continues to work.
 */
final class SimWorker {
  /** Bound of the latency in one direction. */
  private static final long NETWORK_MICROS = 1_000;
  /** Interval between two checks of whether a call must be given up. */
  private static final long WATCH_MILLIS = 500;
  /** Longest wait for an answer, in addition to the wait of a poll. */
  private static final long PATIENCE_MILLIS = 1_500;
  private static final long RETRY_MILLIS = 200;
  /** Pause between an empty poll and the next poll. */
  private static final long PAUSE_MILLIS = 10;
  private static final int MOST_HANDLERS = 4;
  private static final int CALM_HANDLERS = 32;
  /** Bound of the duration of a short task. */
  private static final long BRIEF_MILLIS = 20;

  /**
   * The surroundings of a worker.
   *
   * @param isQuick whether all tasks are short and succeed
   * @param unmet receives a message for each checked rule that was broken
   */
  record Surroundings(FleetWorld world, Sim sim, FleetJudge judge, List<SimNode> nodes, Bug bug,
      BooleanSupplier isQuick,
      Consumer<String> unmet) {}

  private final String machine;
  private final String zone;
  private final Surroundings surroundings;
  private final Schedule schedule;
  private final SplittableRandom random;
  private final int handlers;
  private final long waitMillis;

  private String name;
  private int names;
  private NodeProcess process;
  /** The nodes that the worker may connect to. */
  private List<SimNode> reachable;
  private SimNode node;
  /** The number of the connection. Answers to polls over an earlier connection are lost. */
  private int connection;
  /** The number of free handlers. */
  private int free;
  private boolean polling;
  /** The time at which the node got the latest poll. */
  private long polledMillis;
  private boolean cut;
  /** The time of the latest fault or change of this worker. */
  private long disturbedMillis;
  /** The time at which the worker connected to its node. */
  private long atNodeMillis;
  private boolean enabled = true;
  /** The worker is certainly disabled from this time on; {@link Long#MAX_VALUE} while the worker may be enabled. */
  private long disabledMillis = Long.MAX_VALUE;
  /** Whether a call to enable or disable this worker was not answered, so the call may take effect at any time. */
  private boolean mayChangeLate;

  /** A call of a node's engine. */
  private interface Call<R> {
    CompletionStage<R> of(Engine engine);

    /**
     * Handles, in the node, an answer that could not be written because the worker or its connection is gone. Such an
     * answer may also be lost without a failure of the write.
     */
    @SuppressWarnings("UnusedVariable") // only an answer with tasks needs it
    default void unwritten(Engine engine, R answer) {}
  }

  /** A receiver of an answer, which is null if the call failed or was lost. */
  private interface Answered<R> {
    void answered(@Nullable R result);
  }

  SimWorker(String machine, String zone, Surroundings surroundings, SplittableRandom random) {
    this.machine = machine;
    this.zone = zone;
    this.surroundings = surroundings;
    this.random = random;
    schedule = surroundings.sim().schedule();
    name = machine;
    handlers = surroundings.world().isCalm() ? CALM_HANDLERS : 1 + random.nextInt(MOST_HANDLERS);
    long[] waits = {500, 2_000, 10_000};
    waitMillis = waits[random.nextInt(waits.length)];
    reachable = surroundings.nodes();
    node = reachable.get(0);
    process = newProcess();
    process.die();
  }

  private NodeProcess newProcess() {
    return new NodeProcess(schedule, new NodeClock(schedule, 0, 0, 0), surroundings.unmet());
  }

  String name() {
    return name;
  }

  String zone() {
    return zone;
  }

  /** Returns the node that the worker polls. */
  SimNode node() {
    return node;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  boolean isPaused() {
    return process.isPaused();
  }

  boolean isPolling() {
    return polling && process.isAlive();
  }

  /** Returns whether the node got the latest poll before an instant, so the worker has waited there since. */
  boolean waitsSinceBefore(long millis) {
    return polledMillis < millis;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** Returns whether, since an instant, no fault has affected the worker and the worker has polled the same node. */
  boolean isUndisturbedSince(long millis) {
    return isAlive() && disturbedMillis <= millis && atNodeMillis <= millis;
  }

  /** Returns whether the worker has been disabled, and has polled the same node, since an instant. */
  boolean isDisabledSince(long millis) {
    return disabledMillis <= millis && atNodeMillis <= millis;
  }

  // Faults.

  /** Records the beginning of a call to disable or enable the worker. Until the answer, both states are possible. */
  void changing() {
    disturb();
    enabled = false;
    disabledMillis = Long.MAX_VALUE;
  }

  /** Records the answer to a call to disable or enable the worker. */
  void changed(boolean isEnabled) {
    disturb();
    enabled = isEnabled;
    disabledMillis = isEnabled ? Long.MAX_VALUE : schedule.nowMillis();
  }

  /** Records that a call to disable or enable the worker was not answered, and is repeated. */
  void changeUnanswered() {
    mayChangeLate = true;
  }

  /** Returns whether an unanswered call may still enable or disable the worker. */
  boolean mayChangeLate() {
    return mayChangeLate;
  }

  private void disturb() {
    disturbedMillis = schedule.nowMillis();
  }

  private void trace(String what, long number) {
    surroundings.sim().trace().add(name, what, number);
  }

  void die() {
    disturb();
    trace("dies", 0);
    process.die();
    polling = false;
    disabledMillis = Long.MAX_VALUE;
  }

  /** Starts a process if none is alive, under a new name or under the name of the previous process. */
  void start(boolean isNewName) {
    if (process.isAlive()) {
      return;
    }
    if (isNewName) {
      names++;
      name = machine + "-" + names;
      enabled = true;
      mayChangeLate = false;
    }
    process = newProcess();
    free = handlers;
    connect(someNode());
    trace("starts at " + node.name(), 0);
    surroundings.judge().started(this);
    poll();
  }

  private SimNode someNode() {
    return reachable.get(random.nextInt(reachable.size()));
  }

  private void connect(SimNode to) {
    disturb();
    node = to;
    atNodeMillis = schedule.nowMillis();
    connection++;
    polling = false;
  }

  void pause() {
    disturb();
    trace("is paused", 0);
    process.pause();
  }

  void resume() {
    disturb();
    process.resume();
  }

  void cut(boolean isCut) {
    disturb();
    trace(isCut ? "is cut off" : "is back", 0);
    cut = isCut;
  }

  /** Abandons the current poll, and polls another node from now on. */
  void moveAtOnce(SimNode to) {
    trace("moves to " + to.name(), 0);
    connect(to);
    process.run(this::poll);
  }

  // Calls.

  private void send(Runnable arrives) {
    schedule.afterMicros(random.nextLong(NETWORK_MICROS), arrives);
  }

  /** Calls the node's engine. {@code then} gets the result, or null if the call failed or was not answered in time. */
  private <R> void call(long patienceMillis, Call<R> request, Answered<R> then) {
    NodeProcess mine = process;
    int calledOver = connection;
    SimNode to = node;
    NodeProcess server = to.process();
    boolean[] answered = new boolean[1];
    Consumer<@Nullable R> answer = result -> mine.run(() -> {
      if (!answered[0]) {
        answered[0] = true;
        then.answered(result);
      }
    });
    send(() -> {
      Engine engine = to.engine();
      if (cut) {
        return;
      }
      if (engine == null || to.process() != server) {
        send(() -> answer.accept(null));
        return;
      }
      server.run(() -> request.of(engine).whenComplete((result, failure) -> send(() -> {
        boolean isOpen = !cut && mine.isAlive() && connection == calledOver;
        if (!isOpen && failure == null && random.nextBoolean()) {
          server.run(() -> request.unwritten(engine, result));
        } else if (!cut) {
          answer.accept(failure == null ? result : null);
        }
      })));
    });
    watch(server, answered, schedule.nowMillis() + patienceMillis, () -> answer.accept(null));
  }

  /**
   * Gives up a call if it is not answered in time. Also gives up a call if the server dies, unless this worker is cut
   * off from the server.
   */
  private void watch(NodeProcess server, boolean[] answered, long untilMillis, Runnable giveUp) {
    schedule.afterMillis(WATCH_MILLIS, () -> {
      if (answered[0]) {
        return;
      }
      if (schedule.nowMillis() >= untilMillis || (!server.isAlive() && !cut)) {
        giveUp.run();
      } else {
        watch(server, answered, untilMillis, giveUp);
      }
    });
  }

  private void later(long millis, Runnable action) {
    NodeProcess mine = process;
    schedule.afterMillis(millis, () -> mine.run(action));
  }

  private void poll() {
    if (polling || free == 0) {
      return;
    }
    polling = true;
    int mine = connection;
    Pull pull = new Pull(FleetRuns.QUEUE, free, waitMillis, surroundings.world().leaseMillis(), name,
        surroundings.bug().zoneOf(zone));
    call(waitMillis + PATIENCE_MILLIS, new Call<List<TaskRecord>>() {
      @Override
      public CompletionStage<List<TaskRecord>> of(Engine engine) {
        polledMillis = schedule.nowMillis();
        return engine.pull(pull);
      }

      @Override
      public void unwritten(Engine engine, List<TaskRecord> tasks) {
        tasks.forEach(task -> giveBack(engine, task));
      }
    }, tasks -> {
      if (mine != connection) {
        return;
      }
      polling = false;
      if (tasks == null) {
        later(RETRY_MILLIS, this::pollElsewhere);
      } else {
        tasks.forEach(this::begin);
        later(PAUSE_MILLIS * (tasks.isEmpty() ? 1 : 0), this::poll);
      }
    });
  }

  private static void giveBack(Engine engine, TaskRecord task) {
    Token token = task.token();
    if (token != null) {
      CompletableFuture<?> unused = engine.giveBack(task.id(), token, "the claim could not be answered");
    }
  }

  private void pollElsewhere() {
    if (!polling && random.nextBoolean()) {
      connect(someNode());
    }
    poll();
  }

  // Work.

  /** The work on one task. */
  private final class Work {
    final TaskRecord task;
    final Token token;
    final boolean succeeds;
    /** Whether the work ends when its lease is lost. */
    final boolean isObedient;
    boolean isOver;

    Work(TaskRecord task, Token token) {
      this.task = task;
      this.token = token;
      boolean isQuick = surroundings.isQuick().getAsBoolean();
      succeeds = isQuick || random.nextInt(8) != 0;
      isObedient = random.nextInt(4) != 0;
    }

    void extend() {
      long leaseMillis = surroundings.world().leaseMillis();
      later(leaseMillis / 3, () -> {
        if (isOver) {
          return;
        }
        extend();
        call(PATIENCE_MILLIS, engine -> {
          return engine.extend(task.id(), token, Duration.ofMillis(leaseMillis), TaskNote.NONE, WorkerId.of(name));
        }, result -> {
          if (result != null && result.kind() != ExtendResult.Kind.EXTENDED && isObedient && !isOver) {
            isOver = true;
            ended();
          }
        });
      });
    }

    void end() {
      if (!isOver) {
        isOver = true;
        report();
      }
    }

    private void report() {
      call(PATIENCE_MILLIS, engine -> succeeds
          ? engine.ack(task.id(), token, null)
          : engine.nack(task.id(), token, null, "later"), result -> {
            if (result == null) {
              later(RETRY_MILLIS, this::report);
            } else {
              trace("gets " + result.kind() + " for " + task.id(), task.attempt());
              surroundings.judge().reported(task, result.kind());
              ended();
            }
          });
    }

    private void ended() {
      free++;
      poll();
    }
  }

  private void begin(TaskRecord task) {
    Token token = task.token();
    if (token == null) {
      surroundings.unmet().accept("a worker gets only tasks with a token: " + task.id());
      return;
    }
    trace("begins " + task.id(), task.attempt());
    surroundings.judge().begun(this, task);
    free--;
    Work work = new Work(task, token);
    if (!work.succeeds) {
      surroundings.judge().count(FleetCase.FAILED_ATTEMPT);
    }
    work.extend();
    later(workMillis(), work::end);
  }

  /** Returns the duration of the work on a task: mostly short, sometimes longer than the lease. */
  private long workMillis() {
    if (surroundings.isQuick().getAsBoolean()) {
      return random.nextLong(BRIEF_MILLIS);
    }
    return switch (random.nextInt(10)) {
      case 0 -> random.nextLong(2 * surroundings.world().leaseMillis());
      case 1, 2 -> random.nextLong(2_000);
      default -> random.nextLong(200);
    };
  }

  /** Ends all faults of the worker, starts it if it is dead, and makes it poll one of the healthy nodes. */
  void heal(List<SimNode> well, boolean isNewName) {
    cut = false;
    reachable = well;
    if (process.isAlive()) {
      resume();
    } else {
      start(isNewName);
    }
    moveAtOnce(someNode());
  }
}
