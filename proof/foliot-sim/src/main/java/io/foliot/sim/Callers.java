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

/** Makes calls through any node that serves, and repeats each until a node has completed it. */
final class Callers {
  private static final long AGAIN_MILLIS = 100;

  private final Schedule schedule;
  private final SplittableRandom luck;
  private final SimStore store;
  private final List<SimNode> nodes;

  Callers(Schedule schedule, SplittableRandom luck, SimStore store, List<SimNode> nodes) {
    this.schedule = schedule;
    this.luck = luck;
    this.store = store;
    this.nodes = nodes;
  }

  /** Returns a random node that serves, or null if none does. */
  @Nullable
  SimNode someNode() {
    List<SimNode> up = nodes.stream().filter(node -> node.engine() != null).toList();
    return up.isEmpty() ? null : up.get(luck.nextInt(up.size()));
  }

  /** Repeats a call until it has succeeded on some node. */
  void untilDone(Function<Engine, CompletionStage<?>> call) {
    SimNode node = someNode();
    Engine engine = node == null ? null : node.engine();
    if (node == null || engine == null) {
      schedule.afterMillis(AGAIN_MILLIS, () -> untilDone(call));
      return;
    }
    boolean[] done = new boolean[1];
    node.process().run(() -> call.apply(engine).whenComplete((result, failure) -> {
      if (failure == null) {
        done[0] = true;
      }
    }));
    schedule.afterMillis(AGAIN_MILLIS + store.manners().patienceMillis() / 2, () -> {
      if (!done[0]) {
        untilDone(call);
      }
    });
  }

  /** Reports the end of an accepted attempt, and repeats the report until it is answered. */
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
