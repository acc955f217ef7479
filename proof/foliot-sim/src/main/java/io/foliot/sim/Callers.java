package io.foliot.sim;

import io.foliot.core.Token;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.engine.Engine;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes calls through random nodes that serve, and repeats each call until a node has completed it. */
final class Callers {
  /** Pause before a call is repeated. If a node serves, half of the callers' patience is added to the pause. */
  private static final long RETRY_MILLIS = 100;

  private final Schedule schedule;
  private final SplittableRandom random;
  private final SimStore store;
  private final List<SimNode> nodes;

  Callers(Schedule schedule, SplittableRandom random, SimStore store, List<SimNode> nodes) {
    this.schedule = schedule;
    this.random = random;
    this.store = store;
    this.nodes = nodes;
  }

  /** Returns a random node that serves, or null if no node serves. */
  @Nullable
  SimNode someNode() {
    List<SimNode> up = nodes.stream().filter(node -> node.engine() != null).toList();
    return up.isEmpty() ? null : up.get(random.nextInt(up.size()));
  }

  /** Repeats a call, each time on a random node, until the call has succeeded. */
  void untilDone(Function<Engine, CompletionStage<?>> call) {
    SimNode node = someNode();
    Engine engine = node == null ? null : node.engine();
    if (node == null || engine == null) {
      schedule.afterMillis(RETRY_MILLIS, () -> untilDone(call));
      return;
    }
    boolean[] done = new boolean[1];
    node.process().run(() -> call.apply(engine).whenComplete((result, failure) -> {
      if (failure == null) {
        done[0] = true;
      }
    }));
    schedule.afterMillis(RETRY_MILLIS + store.behaviour().patienceMillis() / 2, () -> {
      if (!done[0]) {
        untilDone(call);
      }
    });
  }

  /** Reports the end of an accepted attempt, and repeats the report until a node has answered it. */
  void report(TaskRecord task, boolean fails) {
    Token token = task.token();
    if (token != null) {
      untilDone(engine -> {
        CompletableFuture<SettleResult> reported = fails
            ? engine.nack(task.id(), token, null, "later")
            : engine.ack(task.id(), token, null);
        return reported;
      });
    }
  }
}
