package io.foliot.server.api;

import io.foliot.api.Limits;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.server.config.Defaults;
import io.foliot.server.text.Nearest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The call that cancels the tasks of a queue that pass a filter. A call takes bounded time and memory, and returns a
 * cursor if there may be more tasks.
 *
 * <ol>
 * <li>The tasks are read in parts, one live state after another, in the order in which a task goes through the states.
 * <li>Each task that passes the filter is cancelled by its id, as by a single cancel. The next part is read before the
 * cancels of a part have completed, so that the cancels of several parts share a commit of the store.
 * </ol>
 *
 * <p>A cancel by filter inside the store was rejected. Each store would need its own implementation, which would have
 * to treat each task exactly as a single cancel does. For example, the cancel of a running task is pending until its
 * attempt ends.
 */
final class BulkCancelRoute {
  /** Largest number of tasks that one part has. */
  private static final int TASKS_AT_ONCE = 100;
  /** Maximum number of cancels that wait for the store at the same time. */
  private static final int CANCELS_AT_ONCE = 1_000;
  /** The records of a part with several tasks may use the memory of an answer, divided by this number. */
  private static final int PART_OF_MEMORY = 2;
  private static final List<TaskState> LIVE = List.of(TaskState.DELAYED, TaskState.READY, TaskState.RUNNING);

  private final Scheduler scheduler;
  private final TimeSource clock;
  private final ApiLimits limits;
  private final SchedulerBridge calls;
  private final Cursors cursors;

  BulkCancelRoute(Scheduler scheduler, TimeSource clock, ApiLimits limits, SchedulerBridge calls,
      Cursors cursors) {
    this.cursors = cursors;
    this.scheduler = scheduler;
    this.clock = clock;
    this.limits = limits;
    this.calls = calls;
  }

  /** The body of the call: the conditions for a task, a limit, and a cursor. */
  private static final class Filter {
    static final List<String> FIELDS = List.of("all", "states", "keyPrefix", "dueBefore", "limit", "cursor");

    boolean all;
    @Nullable
    Set<TaskState> states;
    @Nullable
    String keyPrefix;
    @Nullable
    Instant dueBefore;
    int limit = Defaults.CANCEL;
    @Nullable
    String cursor;

    boolean read(JsonIn in, String name) {
      switch (name) {
        case "all" -> all = Boolean.TRUE.equals(in.truth(name));
        case "states" -> states = states(in.texts(name, LIVE.size()));
        case "keyPrefix" -> keyPrefix = in.text(name);
        case "dueBefore" -> dueBefore = in.instant(name);
        case "limit" -> {
          Integer given = in.integer(name, 1, Limits.MAX_BATCH);
          limit = given == null ? Defaults.CANCEL : given;
        }
        case "cursor" -> cursor = in.text(name);
        default -> {
          return false;
        }
      }
      return true;
    }

    private static @Nullable Set<TaskState> states(@Nullable List<String> words) {
      if (words == null) {
        return null;
      }
      if (words.isEmpty()) {
        throw JsonIn.invalid("states", "at least one of DELAYED, READY, RUNNING", "an empty array");
      }
      Set<TaskState> states = EnumSet.noneOf(TaskState.class);
      for (int i = 0; i < words.size(); i++) {
        String word = words.get(i).toUpperCase(Locale.ROOT);
        TaskState state = LIVE.stream().filter(live -> live.name().equals(word)).findFirst().orElse(null);
        if (state == null) {
          throw JsonIn.invalidText("states[" + i + "]", "one of DELAYED, READY, RUNNING",
              words.get(i), Nearest.of(word, LIVE.stream().map(TaskState::name).toList()));
        }
        states.add(state);
      }
      return states;
    }

    /** Ensures that the call has either a filter or {@code all}. A call with neither would cancel every task. */
    void ensureNarrow() {
      boolean narrows = states != null || keyPrefix != null || dueBefore != null;
      if (all && narrows) {
        throw JsonIn.conflicting(states != null ? "states" : keyPrefix != null ? "keyPrefix" : "dueBefore", "all");
      }
      if (!all && !narrows) {
        throw TaskRoutes.missing("all", "\"all\": true to cancel every task of the queue, or a filter of states,"
            + " keyPrefix and dueBefore");
      }
    }

    boolean passes(TaskRecord task) {
      String key = task.key();
      return (keyPrefix == null || (key != null && key.startsWith(keyPrefix)))
          && (dueBefore == null || task.dueAt() < dueBefore.toEpochMilli());
    }
  }

  /** The position of a walk over the states of a filter. Used by one thread. */
  private static final class Place {
    private final List<TaskState> states;
    private int at;
    @Nullable
    String cursor;

    Place(@Nullable Set<TaskState> wanted, @Nullable String text) {
      states = LIVE.stream().filter(state -> wanted == null || wanted.contains(state)).toList();
      if (text != null) {
        int dot = text.indexOf('.');
        String name = dot < 0 ? "" : text.substring(0, dot);
        while (at < states.size() && !states.get(at).name().equals(name)) {
          at++;
        }
        if (at == states.size()) {
          // The states of the filter have changed since the page before.
          throw QueueScan.badCursor(text);
        }
        cursor = dot + 1 == text.length() ? null : text.substring(dot + 1);
      }
    }

    boolean isAtEnd() {
      return at == states.size();
    }

    TaskState state() {
      return states.get(at);
    }

    void moveTo(@Nullable String next) {
      cursor = next;
      at += next == null ? 1 : 0;
    }

    @Nullable
    String text() {
      return isAtEnd() ? null : state() + "." + (cursor == null ? "" : cursor);
    }
  }

  /** The cancels of a call. Used by one thread. */
  private final class Cancels {
    private final List<CompletableFuture<CancelResult>> underWay = new ArrayList<>();
    int requested;
    int cancelled;
    int pending;

    void add(TaskRecord task) {
      underWay.add(scheduler.cancel(new TaskRef.ById(task.id())));
      requested++;
      if (underWay.size() == CANCELS_AT_ONCE) {
        await();
      }
    }

    void await() {
      for (CompletableFuture<CancelResult> each : underWay) {
        switch (calls.write(each).kind()) {
          case CANCELLED -> cancelled++;
          case CANCEL_PENDING -> pending++;
          case ALREADY_FINISHED, NOT_FOUND -> {
            // The task ended between the read and the cancel.
          }
        }
      }
      underWay.clear();
    }
  }

  /** Returns the list to which the cursors of the cancels of a queue belong. */
  private static String list(String queue) {
    return "cancels of " + queue;
  }

  Reply handle(Request request) {
    String queue = request.variable("queue");
    Filter filter = new Filter();
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      in.only(Filter.FIELDS, name -> filter.read(in, name));
    }
    filter.ensureNarrow();
    Place place = new Place(filter.states, cursors.open(list(queue), filter.cursor));
    calls.ensureKnown(scheduler, queue);
    AnswerMemory.Share memory = request.memory();
    long recordBytes = AnswerMemory.RECORD_BYTES + (long) limits.bodyBytes();
    int atOnce = Math.clamp(memory.mostBytes() / PART_OF_MEMORY / recordBytes, 1, TASKS_AT_ONCE);
    memory.reserve(Math.min(atOnce, filter.limit) * recordBytes);
    QueueScan scan = new QueueScan(scheduler, calls, clock, queue);
    Cancels cancels = new Cancels();
    do {
      RecordPage part = scan.part(place.state(), Math.min(atOnce, filter.limit - cancels.requested), place.cursor);
      part.tasks().stream().filter(filter::passes).forEach(cancels::add);
      place.moveTo(part.cursor());
    } while (!place.isAtEnd() && cancels.requested < filter.limit && scan.hasTime(false));
    cancels.await();
    request.audit("cancelled", Integer.toString(cancels.cancelled));
    request.audit("pending", Integer.toString(cancels.pending));
    String next = cursors.seal(list(queue), place.text());
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeNumberProperty("cancelled", cancels.cancelled);
      json.writeNumberProperty("pending", cancels.pending);
      TaskJson.text(json, "nextCursor", next);
      json.writeEndObject();
    });
  }
}
