package io.foliot.sim;

import io.foliot.core.Scheduler.Pull;
import io.foliot.core.Token;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.engine.Engine;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A worker of the pull queue, process after process: it polls a node, works on what it gets, extends leases when a
 * third is over, and reports. A process can die, be paused, be cut off while it continues to work, and poll
 * another node.
 */
final class SimWorker {
  private static final long NETWORK_MICROS = 1_000;
  private static final long WATCH_MILLIS = 500;
  private static final long PATIENCE_MILLIS = 1_500;
  private static final long AGAIN_MILLIS = 200;
  private static final long PAUSE_MILLIS = 10;
  private static final int MOST_HANDLERS = 4;
  private static final int CALM_HANDLERS = 32;
  private static final long BRIEF_MILLIS = 20;

  /**
   * The surroundings of a worker.
   *
   * @param isQuick whether tasks take a moment only, and succeed
   */
  record Surroundings(FleetWorld world, Sim sim, FleetJudge judge, List<SimNode> nodes, Bug bug,
      BooleanSupplier isQuick,
      Consumer<String> unmet) {}

  private final String machine;
  private final String zone;
  private final Surroundings surroundings;
  private final Schedule schedule;
  private final SplittableRandom luck;
  private final int handlers;
  private final long waitMillis;

  private String name;
  private int names;
  private NodeProcess process;
  /** The nodes to which it is sent when it connects. */
  private List<SimNode> reachable;
  private SimNode node;
  /** Answers to polls over an earlier connection are lost. */
  private int connection;
  private int free;
  private boolean polling;
  /** When the node got the last poll. */
  private long polledMillis;
  private boolean cut;
  private long disturbedMillis;
  private long atNodeMillis;
  private boolean enabled = true;
  /** When it was disabled for certain; {@link Long#MAX_VALUE} while that is not so. */
  private long disabledMillis = Long.MAX_VALUE;
  /** Whether a change of it was repeated because it was not answered: the first call may take effect at any time. */
  private boolean mayChangeLate;

  /** Gets an answer, or null if the call failed or was lost. */
  private interface Answered<R> {
    void answered(@Nullable R result);
  }

  SimWorker(String machine, String zone, Surroundings surroundings, SplittableRandom luck) {
    this.machine = machine;
    this.zone = zone;
    this.surroundings = surroundings;
    this.luck = luck;
    schedule = surroundings.sim().schedule();
    name = machine;
    handlers = surroundings.world().isCalm() ? CALM_HANDLERS : 1 + luck.nextInt(MOST_HANDLERS);
    long[] waits = {500, 2_000, 10_000};
    waitMillis = waits[luck.nextInt(waits.length)];
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

  boolean isAlive() {
    return process.isAlive();
  }

  boolean isPaused() {
    return process.isPaused();
  }

  boolean isPolling() {
    return polling && process.isAlive();
  }

  /** Returns whether the node got its last poll before an instant, so that it has waited there since. */
  boolean waitsSinceBefore(long millis) {
    return polledMillis < millis;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** Returns whether nothing has happened to it since an instant, and it has polled the same node. */
  boolean isUndisturbedSince(long millis) {
    return isAlive() && disturbedMillis <= millis && atNodeMillis <= millis;
  }

  /** Returns whether it was disabled, and polled the same node, at an instant, and ever since. */
  boolean isDisabledSince(long millis) {
    return disabledMillis <= millis && atNodeMillis <= millis;
  }

  // Faults.

  /** It is about to be disabled or enabled: from now on it may be either. */
  void changing() {
    disturb();
    enabled = false;
    disabledMillis = Long.MAX_VALUE;
  }

  /** The change was answered. */
  void changed(boolean isEnabled) {
    disturb();
    enabled = isEnabled;
    disabledMillis = isEnabled ? Long.MAX_VALUE : schedule.nowMillis();
  }

  /** A change was not answered, and is repeated. */
  void changeUnanswered() {
    mayChangeLate = true;
  }

  /** Returns whether an unanswered call may still enable or disable it. */
  boolean mayChangeLate() {
    return mayChangeLate;
  }

  private void disturb() {
    disturbedMillis = schedule.nowMillis();
  }

  private void trace(String what, long number) {
    surroundings.sim().trace().add(name, what, number);
  }

  /** Its process ends at once. */
  void die() {
    disturb();
    trace("dies", 0);
    process.die();
    polling = false;
    disabledMillis = Long.MAX_VALUE;
  }

  /** A process begins; under the name of the one before it, unless it gets a new one. */
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
    return reachable.get(luck.nextInt(reachable.size()));
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

  /** Polls another node from now on; the poll under way is given up. */
  void moveAtOnce(SimNode to) {
    trace("moves to " + to.name(), 0);
    connect(to);
    process.run(this::poll);
  }

  // Calls.

  private void way(Runnable arrives) {
    schedule.afterMicros(luck.nextLong(NETWORK_MICROS), arrives);
  }

  private <R> void call(long patienceMillis, Function<Engine, CompletionStage<R>> request, Answered<R> then) {
    NodeProcess mine = process;
    SimNode to = node;
    NodeProcess server = to.process();
    boolean[] told = new boolean[1];
    Consumer<@Nullable R> tell = result -> mine.run(() -> {
      if (!told[0]) {
        told[0] = true;
        then.answered(result);
      }
    });
    way(() -> {
      Engine engine = to.engine();
      if (cut) {
        return;
      }
      if (engine == null || to.process() != server) {
        way(() -> tell.accept(null));
        return;
      }
      server.run(() -> request.apply(engine).whenComplete((result, failure) -> way(() -> {
        if (!cut) {
          tell.accept(failure == null ? result : null);
        }
      })));
    });
    watch(server, told, schedule.nowMillis() + patienceMillis, () -> tell.accept(null));
  }

  /** The connection of a node that has died breaks; of one that is silent, the caller hangs up. */
  private void watch(NodeProcess server, boolean[] told, long untilMillis, Runnable giveUp) {
    schedule.afterMillis(WATCH_MILLIS, () -> {
      if (told[0]) {
        return;
      }
      if (schedule.nowMillis() >= untilMillis || (!server.isAlive() && !cut)) {
        giveUp.run();
      } else {
        watch(server, told, untilMillis, giveUp);
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
    call(waitMillis + PATIENCE_MILLIS, engine -> {
      polledMillis = schedule.nowMillis();
      return engine.pull(pull);
    }, tasks -> {
      if (mine != connection) {
        return;
      }
      polling = false;
      if (tasks == null) {
        later(AGAIN_MILLIS, this::pollElsewhere);
      } else {
        tasks.forEach(this::begin);
        later(PAUSE_MILLIS * (tasks.isEmpty() ? 1 : 0), this::poll);
      }
    });
  }

  private void pollElsewhere() {
    if (!polling && luck.nextBoolean()) {
      connect(someNode());
    }
    poll();
  }

  // Work.

  /** Work on a task. */
  private final class Work {
    final TaskRecord task;
    final Token token;
    final boolean succeeds;
    /** Whether it ends when its lease is lost. */
    final boolean isObedient;
    boolean isOver;

    Work(TaskRecord task, Token token) {
      this.task = task;
      this.token = token;
      boolean isQuick = surroundings.isQuick().getAsBoolean();
      succeeds = isQuick || luck.nextInt(8) != 0;
      isObedient = luck.nextInt(4) != 0;
    }

    void extend() {
      long leaseMillis = surroundings.world().leaseMillis();
      later(leaseMillis / 3, () -> {
        if (isOver) {
          return;
        }
        extend();
        call(PATIENCE_MILLIS, engine -> {
          engine.seen(name);
          return engine.extend(task.id(), token, Duration.ofMillis(leaseMillis));
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
              later(AGAIN_MILLIS, this::report);
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
      surroundings.unmet().accept("a worker was given a task without a token: " + task.id());
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

  /** Most take a moment, some longer than their lease. */
  private long workMillis() {
    if (surroundings.isQuick().getAsBoolean()) {
      return luck.nextLong(BRIEF_MILLIS);
    }
    return switch (luck.nextInt(10)) {
      case 0 -> luck.nextLong(2 * surroundings.world().leaseMillis());
      case 1, 2 -> luck.nextLong(2_000);
      default -> luck.nextLong(200);
    };
  }

  /** Everything that was wrong with it is mended; from now on it is sent to nodes that work, and polls one of them. */
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
