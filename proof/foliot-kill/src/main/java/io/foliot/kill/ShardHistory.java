package io.foliot.kill;

import io.foliot.api.Scope;
import io.foliot.api.TaskState;
import io.foliot.client.AttemptView;
import io.foliot.client.Fence;
import io.foliot.client.JobView;
import io.foliot.client.TaskView;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The evidence of a run with workers: their logs, and the state that the API shows at the end of the run.
 *
 * @param attempts the attempts that workers have logged
 * @param records the shards as the server shows them
 * @param jobs the paused jobs, as the server shows them
 * @param pauses the times during which every server had read that a worker was disabled
 * @param killed the names of the workers' processes that were killed
 * @param leaseMillis the lease of the workers
 */
record ShardHistory(List<ShardAttempt> attempts, List<Shown> records, List<Plan> jobs, List<Disabled> pauses,
    Set<String> killed, long leaseMillis) {
  private static final Pattern CREATED = Pattern.compile("\"createdAt\":\"([^\"]+)\"");
  private static final Pattern SINCE = Pattern.compile("\"since\":\"([^\"]+)\"");
  private static final Pattern WAITING = Pattern.compile("\"waiting\":(\\d+)");

  ShardHistory {
    attempts = List.copyOf(attempts);
    records = List.copyOf(records);
    jobs = List.copyOf(jobs);
    pauses = List.copyOf(pauses);
    killed = Set.copyOf(killed);
  }

  /**
   * A claim of a shard, as the store has recorded it.
   *
   * @param atMillis when the shard was claimed, by the store's clock
   * @param endedMillis when the end of the attempt was recorded, or the lease ended
   * @param isSuccess whether the attempt finished the shard
   */
  record Claim(Fence fence, long atMillis, long endedMillis, boolean isSuccess) {}

  /**
   * A shard as the server shows it.
   *
   * @param shards how many shards the run has, in the zone of the shard
   * @param fence the fence of the latest attempt; its attempt number is 0 if no attempt has begun
   * @param claims the latest 16 attempts whose end is known, the oldest first
   * @param result the text of the shard's result
   */
  record Shown(ShardAttempt.Shard shard, int shards, TaskState state, Fence fence, List<Claim> claims,
      String result) {
    Shown {
      claims = List.copyOf(claims);
    }

    static Shown of(TaskView task) {
      Map<String, String> headers = task.headers();
      ShardAttempt.Shard shard = new ShardAttempt.Shard(Objects.requireNonNull(headers.get("foliot-job")),
          Instant.parse(Objects.requireNonNull(headers.get("foliot-scheduled-at"))).toEpochMilli(),
          headers.getOrDefault("foliot-zone", ""), Integer.parseInt(headers.getOrDefault("foliot-shard", "0")));
      List<Claim> claims = new ArrayList<>();
      for (AttemptView attempt : task.attempts()) {
        if ("NOT_BEGUN".equals(attempt.outcome())) {
          // No worker got the task. The next claim has the same fence.
          continue;
        }
        claims.add(new Claim(new Fence(attempt.generation(), attempt.attempt()), attempt.begunAt().toEpochMilli(),
            Objects.requireNonNull(attempt.endedAt()).toEpochMilli(), "FINISHED".equals(attempt.outcome())));
      }
      return new Shown(shard, Integer.parseInt(headers.getOrDefault("foliot-shards", "1")), task.state(),
          new Fence(task.generation(), task.attempt()), claims, task.note().message());
    }

    Shown resulting(String other) {
      return new Shown(shard, shards, state, fence, claims, other);
    }
  }

  /**
   * A job with a fixed rate.
   *
   * @param shards how many shards a run has, in each zone; 0 if that depends on the workers
   * @param zones the zones that the job names
   */
  record Kind(String name, Scope scope, int shards, Set<String> zones) {
    Kind {
      zones = Set.copyOf(zones);
    }
  }

  /**
   * A paused job, with the results of its scheduled times.
   *
   * @param anyMillis one of the scheduled times
   * @param totals the number of scheduled times by result
   * @param waiting how many scheduled times wait to run
   */
  record Plan(Kind kind, long periodMillis, long createdMillis, long pausedMillis, long anyMillis,
      Map<String, Long> totals, long waiting) {
    Plan {
      totals = Map.copyOf(totals);
    }

    static Plan of(Kind kind, long periodMillis, JobView view) {
      return new Plan(kind, periodMillis, millis(CREATED, view), millis(SINCE, view),
          OffsetDateTime.parse(view.nextTimes().getFirst()).toInstant().toEpochMilli(), view.totals(),
          Long.parseLong(group(WAITING, view)));
    }

    private static long millis(Pattern pattern, JobView view) {
      return OffsetDateTime.parse(group(pattern, view)).toInstant().toEpochMilli();
    }

    private static String group(Pattern pattern, JobView view) {
      Matcher matcher = pattern.matcher(view.json());
      if (!matcher.find()) {
        throw new IllegalStateException("the state of a paused job lacks " + pattern + ": " + view.json());
      }
      return matcher.group(1);
    }

    /** Returns how many scheduled times are after the creation of the job, up to its pause, inclusive. */
    long times() {
      long phase = Math.floorMod(anyMillis, periodMillis);
      return Math.floorDiv(pausedMillis - phase, periodMillis) - Math.floorDiv(createdMillis - phase, periodMillis);
    }

    boolean isTime(long millis) {
      return Math.floorMod(millis - anyMillis, periodMillis) == 0 && millis > createdMillis && millis <= pausedMillis;
    }

    long total(String name) {
      return totals.getOrDefault(name, 0L);
    }
  }

  /** A time during which every server had read that a worker was disabled. */
  record Disabled(String worker, long fromMillis, long toMillis) {}

  ShardHistory withAttempts(List<ShardAttempt> others) {
    return new ShardHistory(others, records, jobs, pauses, killed, leaseMillis);
  }

  ShardHistory withRecords(List<Shown> others) {
    return new ShardHistory(attempts, others, jobs, pauses, killed, leaseMillis);
  }

  ShardHistory withPauses(List<Disabled> others) {
    return new ShardHistory(attempts, records, jobs, others, killed, leaseMillis);
  }

  ShardHistory changing(ShardAttempt one, UnaryOperator<ShardAttempt> change) {
    return withAttempts(attempts.stream().map(each -> each.equals(one) ? change.apply(each) : each).toList());
  }
}
