package io.foliot.jobs;

import io.foliot.api.JobHeaders;
import io.foliot.api.RunPhase;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the tasks of the runs of a time by their ids, which follow from the record of the job. Nothing is scanned.
 * Thread-safe.
 *
 * <p>The tasks of a run have positions: 0 for the listener before the shards, then the shards, then the listener after
 * them. A cursor is the origin of a run and a position in it, so it stays valid while runs end.
 */
final class RunTasks {
  private final TaskStore store;

  RunTasks(TaskStore store) {
    this.store = store;
  }

  /**
   * A run of the time, and the way to its tasks.
   *
   * @param run the active run, or the ended run as far as it is known
   * @param trace the failed shards and the targets
   * @param failed how many shards failed
   * @param hasEnded whether the run has ended
   */
  private record Source(Run run, RunTrace trace, int failed, boolean hasEnded) {
    static Source of(Run run) {
      List<RunTrace.Failed> failed = run.failed().stream()
          .mapToObj(shard -> new RunTrace.Failed(shard, run.targets().address(shard))).toList();
      return new Source(run, new RunTrace(run.reason(), run.unknown(), failed, run.targets(), true), failed.size(),
          false);
    }

    static Source of(PastRun past) {
      Run run = Run.started(past.from(), past.origin(), past.shards(), past.trace().targets(), 0, past.begun(), 0)
          .inserted(past.shards());
      return new Source(run, past.trace(), past.failed(), true);
    }

    int last() {
      return run.shards() + 1;
    }

    /** Returns the positions to read from a position on, in order. */
    IntStream positions(int from, boolean onlyFailed) {
      IntStream all = onlyFailed && knowsFailed()
          ? IntStream.concat(IntStream.concat(IntStream.of(0),
              trace.failed().stream().mapToInt(each -> each.shard() + 1)), IntStream.of(last()))
          : IntStream.rangeClosed(0, last());
      return all.filter(position -> position >= from);
    }

    /** Returns whether all failed shards are known. A pass may not have read the latest ends of an active run. */
    boolean knowsFailed() {
      return hasEnded && trace.failed().size() == failed;
    }

    RunPhase phase(int position) {
      return position == 0 ? RunPhase.BEFORE : position == last() ? RunPhase.AFTER : RunPhase.SHARDS;
    }

    @Nullable
    TaskId id(String job, int position) {
      if (phase(position) != RunPhase.SHARDS) {
        return Shards.id(job, run, phase(position));
      }
      Address address = trace.address(position - 1);
      return address == null ? null : Shards.id(job, run, position - 1, address);
    }
  }

  /** A task to read. */
  private record Wanted(Source source, int position, @Nullable TaskId id) {}

  /**
   * Returns tasks of the runs of a time: runs of the schedule first, then those of requests.
   *
   * @param time the scheduled time, in milliseconds since 1970
   * @param onlyFailed whether only failed and cancelled tasks are returned
   * @param limit the maximum number of tasks that are read
   * @param cursor the {@code next} of the previous page, or null
   * @param queues the queues whose tasks the caller may see; the tasks of other queues do not exist for the caller
   */
  CompletionStage<Jobs.RunPage> page(JobRecord record, long time, boolean onlyFailed, int limit,
      @Nullable String cursor,
      Predicate<String> queues) {
    String job = record.job().name();
    long[] from = parsed(cursor);
    List<Wanted> wanted = Stream.concat(record.active().stream().filter(run -> run.time() == time).map(Source::of),
        record.history().stream().filter(past -> past.result().isRun() && past.from() == time).map(Source::of))
        .sorted(Comparator.comparingLong(source -> source.run().origin()))
        .filter(source -> source.run().origin() >= from[0])
        .flatMap(source -> source.positions(source.run().origin() == from[0] ? (int) from[1] : 0, onlyFailed)
            .mapToObj(position -> new Wanted(source, position, source.id(job, position))))
        .limit(limit + 1L).toList();
    List<Wanted> read = wanted.subList(0, Math.min(limit, wanted.size()));
    Wanted rest = wanted.size() > limit ? wanted.getLast() : null;
    List<TaskId> ids = read.stream().map(Wanted::id).filter(id -> id != null).map(TaskId.class::cast).toList();
    return ShardEnd.tasks(store, ids).thenApply(found -> {
      List<RunTask> tasks = new ArrayList<>();
      int next = 0;
      for (Wanted each : read) {
        Optional<TaskRecord> task = each.id() == null ? Optional.empty() : found.get(next++);
        RunTask shown = task(job, each, task != null, task == null ? null : task.orElse(null), queues);
        if (shown != null && !(onlyFailed && !each.source().knowsFailed() && !hasFailed(shown))) {
          tasks.add(shown);
        }
      }
      return new Jobs.RunPage(tasks, rest == null ? null : rest.source().run().origin() + "." + rest.position());
    });
  }

  private static boolean hasFailed(RunTask task) {
    return task.task() != null && switch (task.task().state()) {
      case FAILED, CANCELLED -> true;
      default -> false;
    };
  }

  private static long[] parsed(@Nullable String cursor) {
    if (cursor == null) {
      return new long[]{Long.MIN_VALUE, 0};
    }
    int dot = cursor.indexOf('.');
    try {
      return new long[]{Long.parseLong(cursor.substring(0, Math.max(0, dot))),
          Integer.parseInt(cursor.substring(dot + 1))};
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("cursor: expected the cursor of the page before", e);
    }
  }

  /** Returns a task, or null if the run has no such listener. */
  private static @Nullable RunTask task(String job, Wanted wanted, boolean isReadable, @Nullable TaskRecord read,
      Predicate<String> queues) {
    Source source = wanted.source();
    int shard = wanted.position() - 1;
    RunPhase phase = source.phase(wanted.position());
    TaskRecord task = read != null && isOf(job, read) && queues.test(read.queue()) ? read : null;
    if (phase != RunPhase.SHARDS) {
      return task == null
          ? null
          : shown(source, phase, "", 0, RunTask.Presence.STORED, wanted.id(), task);
    }
    RunTask.Presence presence = task != null
        ? RunTask.Presence.STORED
        : wanted.id() == null
            ? RunTask.Presence.UNKNOWN
            : !isReadable
                ? RunTask.Presence.UNREADABLE
                : shard >= source.run().inserted() ? RunTask.Presence.WAITING : RunTask.Presence.REMOVED;
    Targets targets = source.run().targets();
    if (!targets.isNone()) {
      return shown(source, phase, targets.group(shard).zone(), targets.numberInZone(shard), presence, wanted.id(),
          task);
    }
    Map<String, String> headers = task == null ? Map.of() : task.body().headers();
    return shown(source, phase, headers.getOrDefault(JobHeaders.ZONE, ""),
        Integer.parseInt(headers.getOrDefault(JobHeaders.SHARD, Integer.toString(shard))), presence, wanted.id(), task);
  }

  private static RunTask shown(Source source, RunPhase phase, String zone, int shard, RunTask.Presence presence,
      @Nullable TaskId id, @Nullable TaskRecord task) {
    String prefix = Shards.named(zone, shard) + ": ";
    boolean isReason = task == null && phase == RunPhase.SHARDS && source.trace().reason().startsWith(prefix);
    return new RunTask(Instant.ofEpochMilli(source.run().time()), source.run().origin(), phase, zone, shard, presence,
        id, task, isReason ? source.trace().reason().substring(prefix.length()) : "");
  }

  /** Returns whether a task belongs to a job; the ids of other tasks may be the same only by chance. */
  private static boolean isOf(String job, TaskRecord task) {
    return job.equals(task.body().headers().get(JobHeaders.JOB));
  }
}
