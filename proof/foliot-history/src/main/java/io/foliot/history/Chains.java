package io.foliot.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Groups operations and deliveries by key or, for a task without a key, by task. */
final class Chains {
  private record IdempotencyRef(String queue, @Nullable String key, String idempotencyKey) {}

  final List<Chain> all = new ArrayList<>();

  /** Submits without a usable answer that may have made a task without a key, by queue. */
  final Map<String, List<Operation>> keylessMakers = new HashMap<>();

  private final Forgotten forgotten;
  private final Map<String, Chain> byTask = new HashMap<>();
  private final Map<Target.Key, Chain> byKey = new HashMap<>();
  private final Map<String, List<Operation>> redrives = new HashMap<>();
  private final Map<IdempotencyRef, Firing> idempotent = new HashMap<>();

  Chains(Run run, long clockErrorMillis, Findings findings) {
    forgotten = run.forgotten;
    // The order matters. The events that show the key of a task come first, and the answers that name only a task come
    // second. All other operations come last, because some are dropped if their task is unknown by then.
    for (Operation operation : run.operations) {
      if (operation.reply() instanceof Reply.Placed placed && namesKey(operation.request())) {
        place(operation, placed, findings);
      }
    }
    for (Delivery delivery : run.deliveries) {
      Attempt attempt = delivery.attempt();
      Chain chain = chainOf(attempt.taskId(), attempt.queue(), attempt.key());
      chain.firing(attempt.taskId(), attempt.generation()).deliveries.add(delivery);
    }
    for (Operation operation : run.operations) {
      if (operation.reply() instanceof Reply.Placed placed && !namesKey(operation.request())) {
        place(operation, placed, findings);
      }
    }
    for (Operation operation : run.operations) {
      if (!(operation.reply() instanceof Reply.Placed)) {
        addUnplaced(operation);
      }
    }
    for (Chain chain : all) {
      chain.seal(redrives.getOrDefault(chain.queue, List.of()), clockErrorMillis);
    }
  }

  private static boolean namesKey(Request request) {
    return request instanceof Request.Submit || request instanceof Request.Reset || request instanceof Request.Touch;
  }

  private void place(Operation operation, Reply.Placed placed, Findings findings) {
    Chain chain = switch (operation.request()) {
      case Request.Submit submit -> chainOf(placed.taskId(), submit.queue(), submit.key());
      case Request.Reset reset -> chainOf(placed.taskId(), reset.queue(), reset.key());
      case Request.Touch touch -> chainOf(placed.taskId(), touch.queue(), touch.key());
      case Request.RunNow(Target.Key(String queue, String key)) -> chainOf(placed.taskId(), queue, key);
      default -> chainOf(placed.taskId(), Chain.UNKNOWN, null);
    };
    Firing firing = chain.firing(placed.taskId(), placed.generation());
    firing.place(operation, placed);
    boolean repeatable = false;
    if (operation.request() instanceof Request.Submit submit && submit.idempotencyKey() != null) {
      repeatable = true;
      Firing first = idempotent.putIfAbsent(ref(submit, submit.idempotencyKey()), firing);
      if (first != null && !first.equals(firing)) {
        findings.report(Violation.Kind.FIRING, "one idempotency key was answered with " + first + " and " + firing,
            first.origin(), operation.events());
      }
    }
    if (!repeatable && placed.result() == Reply.Result.KEPT) {
      chain.statements.add(operation);
    }
  }

  private void addUnplaced(Operation operation) {
    boolean denied = isDenial(operation.reply());
    switch (operation.request()) {
      case Request.Submit submit -> {
        if (operation.isUnknown()) {
          addMaker(operation, submit);
        }
      }
      case Request.Reset reset -> addLive(operation, new Target.Key(reset.queue(), reset.key()), denied);
      case Request.Touch touch -> addLive(operation, new Target.Key(touch.queue(), touch.key()), denied);
      case Request.RunNow run -> addLive(operation, run.target(), denied);
      case Request.Redrive redrive -> addRedrive(operation, redrive);
      case Request.Cancel cancel -> addCancel(operation, cancel.target(), denied);
      case Request.Read read -> addRead(operation, read.target(), denied);
    }
  }

  private void addMaker(Operation operation, Request.Submit submit) {
    Firing made = submit.idempotencyKey() == null ? null : idempotent.get(ref(submit, submit.idempotencyKey()));
    if (made != null) {
      made.mayStemFrom(operation);
      if (!forgotten.mayFollow(operation.invokedMillis())) {
        return;
      }
      // The store may have forgotten the task that the submit made, and the key may belong to another task by now.
    }
    if (submit.key() == null) {
      keylessMakers.computeIfAbsent(submit.queue(), queue -> new ArrayList<>()).add(operation);
    } else {
      chainOf(new Target.Key(submit.queue(), submit.key())).makers.add(operation);
    }
  }

  private void addLive(Operation operation, Target target, boolean denied) {
    Chain chain = chainAt(target);
    if (chain == null) {
      return;
    }
    if (denied) {
      chain.denials.add(operation);
    } else if (operation.isUnknown() || operation.reply() instanceof Reply.Done) {
      chain.makers.add(operation);
    }
  }

  private void addRedrive(Operation operation, Request.Redrive redrive) {
    if (!operation.isUnknown() && !(operation.reply() instanceof Reply.Done)) {
      return;
    }
    if (redrive.taskId() == null) {
      redrives.computeIfAbsent(redrive.queue(), queue -> new ArrayList<>()).add(operation);
      return;
    }
    Chain chain = byTask.get(redrive.taskId());
    if (chain != null) {
      chain.makers.add(operation);
    }
  }

  private void addCancel(Operation operation, Target target, boolean denied) {
    Chain chain = chainAt(target);
    if (chain == null) {
      return;
    }
    if (denied) {
      chain.denials.add(operation);
    } else if (operation.isUnknown()) {
      chain.add(target, operation);
    } else if (operation.reply() instanceof Reply.Cancelled(Reply.CancelResult result, long generation)) {
      chain.add(target, operation);
      if (result == Reply.CancelResult.CANCELLED && generation != Reply.NO_GENERATION) {
        chain.statements.add(operation);
        chain.cancel(generation, operation);
      }
    }
  }

  private void addRead(Operation operation, Target target, boolean denied) {
    if (denied) {
      Chain chain = chainAt(target);
      if (chain != null) {
        chain.denials.add(operation);
      }
    } else if (operation.reply() instanceof Reply.Found found) {
      Chain chain = target instanceof Target.Key key
          ? chainOf(found.taskId(), key.queue(), key.key())
          : chainOf(found.taskId(), Chain.UNKNOWN, null);
      chain.firing(found.taskId(), found.generation()).reads.add(operation);
      if (target instanceof Target.Key && found.state() == Reply.State.LIVE) {
        chain.statements.add(operation);
      }
    }
  }

  private static boolean isDenial(Reply reply) {
    return reply instanceof Reply.NotFound
        || (reply instanceof Reply.Cancelled cancelled
            && cancelled.result() == Reply.CancelResult.ALREADY_FINISHED);
  }

  private static IdempotencyRef ref(Request.Submit submit, String idempotencyKey) {
    return new IdempotencyRef(submit.queue(), submit.key(), idempotencyKey);
  }

  private @Nullable Chain chainAt(Target target) {
    return switch (target) {
      case Target.Task task -> byTask.get(task.taskId());
      case Target.Key key -> chainOf(key);
    };
  }

  private Chain chainOf(Target.Key key) {
    return byKey.computeIfAbsent(key, k -> add(new Chain(k.queue(), k.key())));
  }

  private Chain chainOf(String taskId, String queue, @Nullable String key) {
    return byTask.computeIfAbsent(taskId,
        id -> key == null ? add(new Chain(queue, null)) : chainOf(new Target.Key(queue, key)));
  }

  private Chain add(Chain chain) {
    all.add(chain);
    return chain;
  }
}
