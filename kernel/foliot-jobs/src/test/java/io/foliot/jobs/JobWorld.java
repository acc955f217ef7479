package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Allocation;
import io.foliot.api.Due;
import io.foliot.api.Job;
import io.foliot.api.JobFields;
import io.foliot.api.JobHeaders;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Outcome;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.DstOverlap;
import io.foliot.schedule.Schedule;
import io.foliot.schedule.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A simulation of one job: its passes, changes and shards. It checks each pass against rules that follow from the
 * definitions in force. The rules do not derive scheduled times from the cursor of the job's record.
 */
final class JobWorld {
  static final Function<String, @Nullable Calendar> NO_CALENDARS = name -> null;
  static final Allocators LAST = new Allocators(
      Map.of("last", (job, workers) -> Collections.nCopies(job.shards(), workers.getLast())));

  /** A fault that a test builds into the planner. */
  enum Fault {
    NONE,
    /** A pass drops all times that are at least 30 s old. */
    CURSOR_FROM_NOW,
    /** A pass runs up to {@link Misfire#MAX_RUNS} misfires, whatever the misfire policy of the job is. */
    CATCH_UP_WITHOUT_BOUND,
    /** A local time that occurs twice at a clock change runs twice. */
    BOTH_OCCURRENCES,
    /** A pass restores the previous definition. */
    OLD_DEFINITION
  }

  /** A span of time with one schedule, paused or not. It begins after {@code since}, in milliseconds since 1970. */
  private record Segment(Schedule schedule, boolean paused, long since) {}

  /** A shard or a listener as the store has it. Times are milliseconds since 1970. */
  private record Stored(Outcome.Child child, long insertedAt, long endsAt, boolean fails, boolean forgotten) {}

  private final Random random;
  private final long created;
  private final List<Segment> segments = new ArrayList<>();
  private final Map<TaskId, Stored> shards = new LinkedHashMap<>();
  private final Set<TaskId> cancelled = new HashSet<>();
  private final Map<TaskId, Long> ends = new HashMap<>();
  private final Set<Long> fired = new HashSet<>();
  /** Runs that were active again after their end. Their listeners saw an earlier result. */
  private final Set<RunName> reopened = new HashSet<>();
  /** The listeners of each run, from the definition that was in force when the run began. */
  private final Map<RunName, Set<RunPhase>> listeners = new HashMap<>();
  @Nullable
  Fleet fleet;
  Fault fault = Fault.NONE;
  /** Number of unfinished shards of the job from which on no run begins. */
  long room = Long.MAX_VALUE;
  /** The allocators of the planning node: either {@link #LAST}, which chooses the last worker, or none. */
  Allocators allocators = LAST;
  private @Nullable Job replaced;
  JobRecord record;
  long now;
  long nextPass;
  /** The longest time that a shard takes, in milliseconds. */
  long longestRun = 5_000;
  int failPercent;
  /** Retention of an ended shard in the store, in milliseconds. */
  long retention = Long.MAX_VALUE;

  /** The scheduled time and the origin of a run. No other run of the job has the same two. */
  private record RunName(long time, long origin) {
    static RunName of(Run run) {
      return new RunName(run.time(), run.origin());
    }
  }

  JobWorld(Random random, Job job, long now) {
    this.random = random;
    this.now = now;
    created = now;
    record = JobChange.create(job, now, NO_CALENDARS);
    nextPass = now;
    segments.add(new Segment(schedule(job), false, now));
  }

  private static Schedule schedule(Job job) {
    return job.schedule().schedule(job.name(), NO_CALENDARS);
  }

  // Events.

  /**
   * Advances to a time. Runs each pass that is due until then: at its due time, or at once if the due time has passed.
   */
  void runUntil(long time) {
    int guard = 0;
    while (nextPass <= time) {
      assertThat(guard++).as("passes up to %s", time).isLessThan(2_000_000);
      now = Math.max(now, nextPass);
      pass();
    }
    now = Math.max(now, time);
  }

  /** Advances the time without a pass. */
  void outage(long millis) {
    now += millis;
  }

  /** Runs a pass now, even if none is due. */
  JobLife.Plan pass() {
    Map<TaskId, ShardEnd> read = new HashMap<>();
    for (TaskId id : JobLife.wanted(record)) {
      read.put(id, end(id));
    }
    assertThat(read.size()).isLessThanOrEqualTo(JobLife.MAX_READ);
    JobLife.Plan plan = JobLife.plan(faulty(), now, read, NO_CALENDARS, Attendance.of(fleet), allocators, room);
    plan.cancels().forEach(this::cancel);
    plan.hastened().forEach(id -> shards.computeIfPresent(id, (same, shard) -> new Stored(shard.child(), now,
        now + random.nextLong(longestRun + 1), shard.fails(), shard.forgotten())));
    check(plan);
    checkPlaces(plan, read);
    plan.record().active().forEach(run -> checkListeners(plan, run));
    record.active().forEach(run -> checkClosed(plan.record(), run));
    for (Outcome.Child child : plan.children()) {
      if (shards.containsKey(child.id())) {
        throw new AssertionError("a shard is inserted twice: child=" + child);
      }
      long due = ((Due.At) child.due()).millis();
      long begins = Math.max(now, due);
      shards.put(child.id(), new Stored(child, now, begins + random.nextLong(longestRun + 1),
          random.nextInt(100) < failPercent, false));
    }
    record = plan.record();
    nextPass = plan.at();
    return plan;
  }

  /** Returns the changed record that a pass gets if the test has built in a fault. */
  private JobRecord faulty() {
    JobEdit edit = new JobEdit(record);
    Job job = record.job();
    switch (fault) {
      case NONE -> {
        return record;
      }
      case CURSOR_FROM_NOW -> edit.cursor = Math.max(edit.cursor, now - ScheduledTimes.GRACE_MILLIS);
      case CATCH_UP_WITHOUT_BOUND -> edit.job = with(job, Misfire.all(Misfire.MAX_RUNS, Duration.ofDays(366)),
          job.schedule());
      case BOTH_OCCURRENCES -> edit.job = job.schedule().cron() == null
          ? job
          : with(job, job.misfire(), ScheduleSettings.builder().cron(Objects.requireNonNull(job.schedule().cron()))
              .timeZone(job.schedule().timeZone()).dstOverlap(DstOverlap.BOTH).build());
      case OLD_DEFINITION -> edit.job = replaced == null ? job : replaced;
    }
    return edit.done();
  }

  private static Job with(Job job, Misfire misfire, ScheduleSettings schedule) {
    return Job.of(job.name(),
        job.values().with(JobFields.MISFIRE, misfire).with(JobFields.SCHEDULE, schedule));
  }

  private void cancel(TaskId id) {
    Stored stored = shards.get(id);
    assertThat(stored).as("a shard that is cancelled was inserted").isNotNull();
    if (stored != null && !isEnded(id)) {
      cancelled.add(id);
      ends.put(id, now);
    }
  }

  private boolean isEnded(TaskId id) {
    Stored stored = shards.get(id);
    return stored != null && (ends.containsKey(id) || stored.endsAt() <= now);
  }

  private ShardEnd end(TaskId id) {
    Stored stored = shards.get(id);
    if (stored == null) {
      return new ShardEnd(ShardEnd.State.ABSENT, 0);
    }
    if (!isEnded(id)) {
      return new ShardEnd(ShardEnd.State.LIVE, stored.insertedAt());
    }
    long at = ends.getOrDefault(id, stored.endsAt());
    if (now - at > retention) {
      return new ShardEnd(ShardEnd.State.ABSENT, 0);
    }
    boolean failed = cancelled.contains(id) || stored.fails();
    return new ShardEnd(failed ? ShardEnd.State.FAILED : ShardEnd.State.SUCCEEDED, at);
  }

  /**
   * Sets the clock forward, lets the job run for some time, and sets the clock back. Then a pass is due, as
   * {@link AheadJobs} arranges.
   */
  void clockAhead(long aheadMillis, long forMillis) {
    now += aheadMillis;
    runUntil(now + forMillis);
    shards.forEach((id, shard) -> {
      if (isEnded(id)) {
        ends.putIfAbsent(id, shard.endsAt());
      }
    });
    now -= aheadMillis;
    nextPass = now;
  }

  // Changes of callers.

  /** Makes a change. Runs passes first while the job is behind. */
  private void change(Function<JobRecord, JobRecord> change) {
    for (int tries = 0;; tries++) {
      try {
        JobRecord next = change.apply(record);
        if (next != record) {
          record = next;
          nextPass = now;
        }
        return;
      } catch (JobChange.BehindException e) {
        assertThat(tries).isLessThan(1_000_000);
        pass();
      }
    }
  }

  private Segment last() {
    return segments.getLast();
  }

  void put(Job job) {
    if (!job.equals(record.job())) {
      replaced = record.job();
      change(before -> JobChange.put(before, job, now, NO_CALENDARS));
      segments.add(new Segment(schedule(job), last().paused(), now));
    }
  }

  void pause() {
    change(before -> JobChange.pause(before, JobRecord.Paused.OPEN, "test", "me", now, NO_CALENDARS));
    segments.add(new Segment(last().schedule(), true, now));
  }

  void resume() {
    if (record.paused() != null) {
      change(before -> JobChange.resume(before, now, NO_CALENDARS));
      segments.add(new Segment(last().schedule(), false, now));
    }
  }

  JobChange.Requested trigger(@Nullable String key) {
    JobChange.Requested requested = JobChange.trigger(record, key, now);
    record = requested.record();
    nextPass = now;
    return requested;
  }

  void stop(long time) {
    change(before -> JobChange.stop(before, time, now, NO_CALENDARS));
  }

  /** Runs a failed shard of an ended run again, if there is one. Returns whether there was. */
  boolean redrive() {
    for (PastRun past : record.history()) {
      for (RunTrace.Failed failed : past.trace().failed()) {
        TaskId id = Shards.id(record.job().name(), Run.started(past.from(), past.origin(), past.shards(),
            past.trace().targets(), 0, past.begun(), 0), failed.shard(), failed.address());
        Stored stored = shards.get(id);
        if (stored != null && stored.fails() && !cancelled.contains(id)
            && end(id).state() == ShardEnd.State.FAILED && past.result() == PastRun.Result.FAILED
            && record.active().isEmpty()) {
          Map<String, String> headers = stored.child().body().headers();
          JobChange.Reopened reopened = JobChange.reopen(record, past.from(), past.origin(),
              headers.getOrDefault(JobHeaders.ZONE, ""), Integer.parseInt(headers.get(JobHeaders.SHARD)), now);
          assertThat(reopened.id()).isEqualTo(id);
          ends.remove(id);
          shards.put(id, new Stored(stored.child(), now, now + random.nextLong(longestRun + 1), random.nextBoolean(),
              false));
          this.reopened.add(new RunName(past.from(), past.origin()));
          record = reopened.record();
          nextPass = now;
          return true;
        }
      }
    }
    return false;
  }

  // The checks.

  private void check(JobLife.Plan plan) {
    JobRecord next = plan.record();
    assertThat(next.cursor()).as("the cursor never moves back, unless the clock does")
        .isGreaterThanOrEqualTo(Rewind.isAhead(record, now) ? now : record.cursor());
    assertThat(plan.at()).as("the next pass is not before this one").isGreaterThanOrEqualTo(now);
    assertThat(plan.children().size()).isLessThanOrEqualTo(Outcome.Rearm.MAX_CHILDREN);
    byte[] bytes = JobRecordFormat.encode(next);
    assertThat(bytes.length).isLessThanOrEqualTo(JobRecordFormat.MAX_BYTES);
    assertThat(JobRecordFormat.decode(next.job().name(), bytes)).isEqualTo(next);
    assertThat(next.waiting().size()).isLessThanOrEqualTo(JobRecord.MAX_WAITING);
    assertThat(next.history().size()).isLessThanOrEqualTo(next.job().history());
    checkMisfire(next);
    for (Run run : next.active()) {
      boolean isNew = record.active().stream()
          .noneMatch(old -> old.time() == run.time() && old.origin() == run.origin());
      if (isNew) {
        began(run);
      }
    }
  }

  /**
   * Checks that a pass starts or queues no more times than the misfire policy allows. No such time may be older than
   * the window of the policy or 30 s, whichever is longer.
   */
  private void checkMisfire(JobRecord next) {
    if (record.job().schedule().after() != null) {
      return;
    }
    Set<Long> before = times(record);
    Set<Long> taken = times(next);
    taken.removeAll(before);
    Misfire misfire = record.job().misfire();
    int most = switch (misfire.policy()) {
      case ONCE -> 1;
      case ALL -> misfire.max();
      case SKIP -> JobRecord.MAX_WAITING;
    };
    assertThat(taken.size()).as("times that one pass takes").isLessThanOrEqualTo(most);
    long oldest = now - Math.max(misfire.window().toMillis(), ScheduledTimes.GRACE_MILLIS);
    assertThat(taken).as("no time is older than the window").allMatch(time -> time >= oldest);
  }

  private static Set<Long> times(JobRecord record) {
    Set<Long> times = new HashSet<>();
    record.waiting().stream().filter(each -> each.origin() == 0).forEach(each -> times.add(each.time()));
    record.active().stream().filter(each -> each.origin() == 0).forEach(each -> times.add(each.time()));
    return times;
  }

  /** Checks that a run that begins has valid targets, and that the targets of a run never change. */
  private void checkPlaces(JobLife.Plan plan, Map<TaskId, ShardEnd> read) {
    String name = record.job().name();
    for (Run run : plan.record().active()) {
      Run before = record.active().stream().filter(old -> old.time() == run.time() && old.origin() == run.origin())
          .findFirst().orElse(null);
      if (before == null) {
        checkBegin(run);
      } else {
        assertThat(run.targets()).as("targets are frozen").isEqualTo(before.targets());
        assertThat(run.shards()).isEqualTo(before.shards());
      }
      for (int shard = 0; shard < run.shards(); shard++) {
        assertThat(Shards.id(name, run, shard).address()).isEqualTo(run.targets().address(shard));
      }
    }
    // Simulates a crash of the node after it wrote the record, and the next pass by a node that knows other workers.
    JobLife.Plan repeated = JobLife.plan(plan.record(), now, read, NO_CALENDARS, Attendance.of(Workers.of(3)),
        allocators, room);
    Set<TaskId> known = new HashSet<>(shards.keySet());
    plan.children().forEach(child -> known.add(child.id()));
    assertThat(known).containsAll(JobLife.wanted(plan.record()));
    for (Run run : plan.record().active()) {
      repeated.record().active().stream()
          .filter(again -> again.time() == run.time() && again.origin() == run.origin())
          .forEach(again -> assertThat(again.targets()).isEqualTo(run.targets()));
    }
  }

  private void checkBegin(Run run) {
    Job job = record.job();
    List<Fleet.Seat> working = fleet == null ? List.of() : fleet.working(job.queue());
    Targets targets = run.targets();
    boolean isOwn = job.allocation() == Allocation.OWN;
    assertThat(!isOwn || allocators.has(job.allocator())).as("this node has the allocator of the job").isTrue();
    assertThat(targets.isNone() || targets.shards() == run.shards()).as("each shard has one address").isTrue();
    switch (job.scope()) {
      case ONE -> {
        assertThat(run.shards()).isEqualTo(job.shards());
        boolean isFree = job.shards() == 1 || job.allocation() == Allocation.FREE || working.isEmpty();
        assertThat(targets.isNone()).isEqualTo(isFree && !isOwn);
      }
      case PER_ZONE -> {
        assertThat(run.shards()).isEqualTo(targets.groups().size() * job.shards()).isPositive();
        assertThat(job.zones().isEmpty() || job.zones().size() == targets.groups().size()).isTrue();
      }
      case ALL -> assertThat(targets.groups().getFirst().numbers())
          .isEqualTo(working.stream().map(Fleet.Seat::number).toList());
    }
    for (int shard = 0; shard < targets.shards(); shard++) {
      Address address = targets.address(shard);
      String zone = targets.group(shard).zone();
      if (address.kind() == Address.Kind.ZONE) {
        assertThat(isOwn).isFalse();
        assertThat(fleet == null ? -1 : fleet.zone(zone)).isEqualTo(address.number());
      } else {
        assertThat(working).as("a seat of a worker that works").anyMatch(seat -> seat.number() == address.number()
            && (zone.isEmpty() || seat.zone().equals(zone)));
        assertThat(!isOwn || address.number() == working.stream()
            .filter(seat -> zone.isEmpty() || seat.zone().equals(zone)).mapToInt(Fleet.Seat::number).max().orElse(-1))
            .as("the allocator gives each shard to the last worker").isTrue();
      }
    }
  }

  /**
   * Checks that no shard is inserted until the listener before the shards has succeeded, and that the listener after
   * the shards is not inserted until all shards have ended.
   */
  private void checkListeners(JobLife.Plan plan, Run run) {
    String name = record.job().name();
    Set<RunPhase> phases = listeners.computeIfAbsent(RunName.of(run), key -> record.job().runListeners());
    Set<TaskId> inserted = new HashSet<>();
    plan.children().forEach(child -> inserted.add(child.id()));
    TaskId before = Shards.id(name, run, RunPhase.BEFORE);
    TaskId after = Shards.id(name, run, RunPhase.AFTER);
    boolean isPrepared = !phases.contains(RunPhase.BEFORE) || hasSucceeded(before);
    boolean isOver = !shards.containsKey(before) || isEnded(before);
    for (int shard = 0; shard < run.shards(); shard++) {
      TaskId id = Shards.id(name, run, shard);
      assertThat(!inserted.contains(id) || isPrepared).as("no shard begins before its run is prepared").isTrue();
      isOver &= !inserted.contains(id) && (!shards.containsKey(id) || isEnded(id));
    }
    assertThat(!inserted.contains(before) || phases.contains(RunPhase.BEFORE)).isTrue();
    assertThat(!inserted.contains(after) || (phases.contains(RunPhase.AFTER) && isOver))
        .as("the listener after the shards begins once all shards have ended").isTrue();
  }

  private boolean hasSucceeded(TaskId id) {
    Stored stored = shards.get(id);
    return stored != null && isEnded(id) && !cancelled.contains(id) && !stored.fails();
  }

  /** Checks that the listener after the shards has ended before its run is closed, and got the recorded result. */
  private void checkClosed(JobRecord next, Run run) {
    RunName name = RunName.of(run);
    if (next.active().stream().anyMatch(each -> RunName.of(each).equals(name))) {
      return;
    }
    TaskId id = Shards.id(record.job().name(), run, RunPhase.AFTER);
    Stored after = shards.get(id);
    boolean hasAfter = listeners.getOrDefault(name, Set.of()).contains(RunPhase.AFTER);
    assertThat(after != null).as("a closed run has its listener of the phase AFTER: %s", run).isEqualTo(hasAfter);
    PastRun past = next.history().stream()
        .filter(each -> each.from() == run.time() && each.origin() == run.origin() && each.result().isRun()).findFirst()
        .orElse(null);
    if (after != null && past != null && !reopened.contains(name)) {
      assertThat(isEnded(id)).as("the listener of the phase AFTER ends before its run").isTrue();
      assertThat(after.child().body().headers()).containsEntry(JobHeaders.RUN_RESULT, past.result().name());
    }
  }

  private void began(Run run) {
    if (record.job().overlap() != Overlap.ALLOW) {
      shards.keySet().forEach(id -> assertThat(isEnded(id)).as("no run begins while another run is active").isTrue());
    }
    if (run.origin() == 0) {
      assertThat(fired.add(run.time())).as("a time fires once: %s", Instant.ofEpochMilli(run.time())).isTrue();
      assertThat(run.time()).as("no time is early").isLessThanOrEqualTo(now);
      boolean delayed = record.job().schedule().after() != null;
      assertThat(delayed || isScheduled(run.time())).as("%s is a scheduled time", Instant.ofEpochMilli(run.time()))
          .isTrue();
      assertThat(last().paused()).as("nothing begins while the job is paused").isFalse();
      long most = Math.max(record.job().misfire().window().toMillis(), ScheduledTimes.GRACE_MILLIS);
      assertThat(delayed || now - run.time() <= most).as("no run begins later than the window of misfires: %s", run)
          .isTrue();
    }
  }

  private boolean isScheduled(long time) {
    for (int i = 0; i < segments.size(); i++) {
      long end = i + 1 < segments.size() ? segments.get(i + 1).since() : Long.MAX_VALUE;
      Segment segment = segments.get(i);
      if (time > segment.since() && time <= end && !segment.paused()) {
        Instant next = segment.schedule().next(Instant.ofEpochMilli(time - 1));
        return next != null && next.toEpochMilli() == time;
      }
    }
    return false;
  }

  /** Checks that each scheduled time up to now is counted exactly once in the totals or waits for its run. */
  void checkAccounts() {
    // A pass is needed first, because a paused job counts its times in its passes.
    do {
      pass();
    } while (nextPass <= now);
    long scheduled = 0;
    long paused = 0;
    for (int i = 0; i < segments.size(); i++) {
      long end = i + 1 < segments.size() ? segments.get(i + 1).since() : now;
      Segment segment = segments.get(i);
      long count = segment.schedule().count(Instant.ofEpochMilli(segment.since()), Instant.ofEpochMilli(end),
          Long.MAX_VALUE);
      scheduled += count;
      paused += segment.paused() ? count : 0;
    }
    JobTotals totals = record.totals();
    long waiting = record.waiting().stream().filter(each -> each.origin() == 0).count();
    assertThat(totals.fired() + totals.skipped() + totals.missed() + totals.paused() + totals.noTargets()
        + waiting)
        .as("each of the %s scheduled times since %s is counted once: %s, waiting=%s", scheduled,
            Instant.ofEpochMilli(created), totals, waiting)
        .isEqualTo(scheduled);
    assertThat(totals.paused()).isEqualTo(paused);
  }

  int inserted() {
    return shards.size();
  }

  int firedTimes() {
    return fired.size();
  }
}
