package io.foliot.kill;

import io.foliot.history.Attempt;
import io.foliot.history.Event;
import io.foliot.history.Reply;
import io.foliot.history.Request;
import io.foliot.history.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Histories that break a promise; a checker that accepts one is broken. */
final class TamperedHistory {
  /** Number of the first added delivery. All recorded deliveries have lower numbers. */
  private static final long MADE_UP = 1L << 40;

  /** Attempt number of all added deliveries. No recorded attempt has it, so no added delivery repeats an attempt. */
  private static final int MADE_UP_ATTEMPT = 1_000_000;

  private TamperedHistory() {}

  private record Placement(Event.Invoked invoked, Event.Answered answered, Reply.Placed placed) {}

  private static List<Placement> placements(List<Event> events) {
    Map<Long, Event.Invoked> invoked = new HashMap<>();
    List<Placement> placements = new ArrayList<>();
    for (Event event : events) {
      if (event instanceof Event.Invoked begun) {
        invoked.put(begun.op(), begun);
      } else if (event instanceof Event.Answered answered && answered.reply() instanceof Reply.Placed placed) {
        placements.add(new Placement(Objects.requireNonNull(invoked.get(answered.op())), answered, placed));
      }
    }
    return placements;
  }

  /**
   * Returns the due times of the unchanged tasks, by task id. An unchanged task has neither a key nor an idempotency
   * key, and no call has changed it since its submit.
   */
  private static Map<String, Long> untouched(List<Event> events) {
    Map<String, Long> untouched = new HashMap<>();
    for (Placement placement : placements(events)) {
      if (placement.invoked.request() instanceof Request.Submit submit && submit.key() == null
          && submit.idempotencyKey() == null) {
        untouched.put(placement.placed.taskId(), placement.placed.dueAtMillis());
      }
    }
    for (Event event : events) {
      if (event instanceof Event.Invoked invoked && target(invoked.request()) instanceof Target.Task task) {
        untouched.remove(task.taskId());
      }
    }
    return untouched;
  }

  private static @Nullable Target target(Request request) {
    return switch (request) {
      case Request.Cancel cancel -> cancel.target();
      case Request.RunNow run -> run.target();
      default -> null;
    };
  }

  /** Returns the history without the deliveries of one task. */
  static List<Event> withoutADelivery(List<Event> events) {
    Set<String> untouched = untouched(events).keySet();
    Set<String> otherwise = answeredOtherwise(events);
    String taskId = events.stream().filter(Event.Began.class::isInstance)
        .map(event -> ((Event.Began) event).attempt().taskId())
        .filter(id -> untouched.contains(id) && !otherwise.contains(id)).findFirst().orElseThrow();
    Set<Long> dropped = new HashSet<>();
    List<Event> falsified = new ArrayList<>();
    for (Event event : events) {
      if (event instanceof Event.Began began && began.attempt().taskId().equals(taskId)) {
        dropped.add(began.delivery());
      } else if (!(event instanceof Event.Replied replied && dropped.contains(replied.delivery()))) {
        falsified.add(event);
      }
    }
    return falsified;
  }

  /**
   * Returns the tasks whose receiver answered REFUSED or AGAIN. A refused task is recorded as failed. A task with the
   * answer AGAIN has a firing that no client requested. The checker counts neither as lost, even if its deliveries are
   * dropped.
   */
  private static Set<String> answeredOtherwise(List<Event> events) {
    Map<Long, String> taskIds = new HashMap<>();
    Set<String> otherwise = new HashSet<>();
    for (Event event : events) {
      if (event instanceof Event.Began began) {
        taskIds.put(began.delivery(), began.attempt().taskId());
      } else if (event instanceof Event.Replied replied
          && (replied.reception() == Event.Reception.REFUSED || replied.reception() == Event.Reception.AGAIN)) {
        otherwise.add(Objects.requireNonNull(taskIds.get(replied.delivery())));
      }
    }
    return otherwise;
  }

  /** Returns the history with one delivery a millisecond before its task was due. */
  static List<Event> withAnEarlyDelivery(List<Event> events) {
    Map<String, Long> dueMillis = untouched(events);
    List<Event> falsified = new ArrayList<>(events);
    for (int i = 0; i < falsified.size(); i++) {
      if (falsified.get(i) instanceof Event.Began began && dueMillis.containsKey(began.attempt().taskId())) {
        long early = dueMillis.get(began.attempt().taskId()) - 1;
        falsified.set(i, new Event.Began(began.delivery(), early, began.attempt()));
        return falsified;
      }
    }
    throw new IllegalArgumentException("the history has no delivery of an unchanged task");
  }

  /** Returns the history with one more attempt of each cancelled task without a key, a millisecond too late. */
  static List<Event> withDeliveriesAfterCancelled(List<Event> events) {
    Map<String, Placement> submits = new HashMap<>();
    placements(events).stream().filter(placement -> placement.invoked.request() instanceof Request.Submit submit
        && submit.key() == null).forEach(placement -> submits.put(placement.placed.taskId(), placement));
    Map<Long, Event.Invoked> invoked = new HashMap<>();
    List<Event> falsified = new ArrayList<>(events);
    long made = MADE_UP;
    for (Event event : events) {
      if (event instanceof Event.Invoked begun) {
        invoked.put(begun.op(), begun);
      } else if (event instanceof Event.Answered answered
          && answered.reply() instanceof Reply.Cancelled(Reply.CancelResult result, long generation)
          && result == Reply.CancelResult.CANCELLED
          && target(Objects.requireNonNull(invoked.get(answered.op())).request()) instanceof Target.Task task
          && submits.containsKey(task.taskId())) {
        falsified.add(tooLate(made++, answered, submits.get(task.taskId()), null));
      }
    }
    return falsified;
  }

  /** Returns the history with one more attempt of each generation that was reset, a millisecond too late. */
  static List<Event> withOldGenerations(List<Event> events) {
    Map<String, Placement> live = new HashMap<>();
    List<Event> falsified = new ArrayList<>(events);
    long made = MADE_UP;
    for (Placement placement : placements(events)) {
      if (placement.invoked.request() instanceof Request.Reset reset) {
        Placement before = live.put(reset.queue() + "/" + reset.key(), placement);
        if (before != null && placement.placed.result() == Reply.Result.RESET
            && before.placed.taskId().equals(placement.placed.taskId())
            && before.placed.generation() < placement.placed.generation()) {
          falsified.add(tooLate(made++, placement.answered, before, reset.key()));
        }
      }
    }
    return falsified;
  }

  /** Returns whether the history has an unchanged task, a cancelled task without a key, and a reset. */
  static boolean canFalsify(List<Event> events) {
    return !untouched(events).isEmpty() && withDeliveriesAfterCancelled(events).size() > events.size()
        && withOldGenerations(events).size() > events.size();
  }

  private static Event.Began tooLate(long number, Event.Answered answered, Placement placement, @Nullable String key) {
    String queue = switch (placement.invoked.request()) {
      case Request.Submit submit -> submit.queue();
      case Request.Reset reset -> reset.queue();
      default -> throw new IllegalArgumentException("neither submit nor reset: " + placement);
    };
    Reply.Placed placed = placement.placed;
    long atMillis = Math.max(answered.atMillis(), placed.dueAtMillis()) + Rig.ALLOWANCES.transitMillis() + 1;
    return new Event.Began(number, atMillis, new Attempt(placed.taskId(), queue, key, placed.generation(),
        "made-up-" + number, MADE_UP_ATTEMPT, placed.dueAtMillis()));
  }
}
