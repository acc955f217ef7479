package io.foliot.jobs;

import static io.foliot.jobs.JobWorld.NO_CALENDARS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Overlap;
import io.foliot.api.Scope;
import io.foliot.api.TaskNote;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Outcome;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.ScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Single cases of scopes: the choice of the workers for the shards of a run, and the effect of missing workers. */
final class JobPlacesTest {
  private static final long START = Instant.parse("2026-01-05T00:00:00Z").toEpochMilli();
  private static final long MINUTE = 60_000;

  private final Map<TaskId, ShardEnd> ends = new HashMap<>();
  private final List<Outcome.Child> children = new ArrayList<>();
  private final List<TaskId> cancels = new ArrayList<>();
  private Allocators allocators = Allocators.NONE;
  private @Nullable RuntimeException failure;
  /** If not null, replaces {@link #fleet}, whose absent workers have been away for ever. */
  private @Nullable Attendance attendance;
  private @Nullable Fleet fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").fleet();
  private JobRecord record = JobChange.create(minutely().build(), START, NO_CALENDARS);

  private static Job.Builder minutely() {
    return Job.named("report").queue("q").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  private void job(Job.Builder job) {
    record = JobChange.create(job.build(), START, NO_CALENDARS);
  }

  private long pass(long now) {
    long next;
    do {
      JobLife.Plan plan = JobLife.plan(record, now, ends, NO_CALENDARS,
          attendance == null ? Attendance.of(fleet) : attendance, allocators, Long.MAX_VALUE);
      record = JobRecordFormat.decode("report", JobRecordFormat.encode(plan.record()));
      assertThat(record).isEqualTo(plan.record());
      cancels.clear();
      cancels.addAll(plan.cancels());
      plan.children().forEach(child -> ends.put(child.id(), new ShardEnd(ShardEnd.State.LIVE, 0)));
      children.addAll(plan.children());
      next = plan.at();
      failure = plan.failure();
    } while (next <= now);
    return next;
  }

  private void succeed(long at) {
    ends.replaceAll((id, end) -> end.isLive() ? new ShardEnd(ShardEnd.State.SUCCEEDED, at) : end);
  }

  private List<Address> addresses() {
    return children.stream().map(child -> child.id().address()).toList();
  }

  private List<@Nullable String> headers(String name) {
    List<@Nullable String> values = new ArrayList<>();
    children.forEach(child -> values.add(child.body().headers().get(name)));
    return values;
  }

  private static Address seat(int number) {
    return new Address(Address.Kind.SEAT, number);
  }

  @Test
  void theShardOfAWorkerThatLeftTheQueueIsCancelled() {
    job(minutely().scope(Scope.ALL));
    pass(START + MINUTE);
    fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").takes(2, "another").fleet();
    pass(START + MINUTE + 30_000);
    assertThat(cancels).as("its process lives, and works for another queue").containsExactly(children.get(2).id());
    assertThat(RunPlaces.waitsFor(record.job(), record.active().getFirst(), fleet)).contains("no longer");
  }

  /** Checks that each open shard can begin, is cancelled, or waits for something that the status names. */
  @Test
  void eachOpenShardIsServedOrCancelledOrWaits() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 300; i++) {
      ends.clear();
      children.clear();
      fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").add("w3", "b").fleet();
      Scope scope = List.of(Scope.ONE, Scope.PER_ZONE, Scope.ALL).get(random.nextInt(3));
      job(minutely().scope(scope).shards(scope == Scope.ALL ? 1 : 1 + random.nextInt(4)));
      pass(START + MINUTE);
      Workers later = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").add("w3", "b");
      for (int seat = 0; seat < 4; seat++) {
        switch (random.nextInt(4)) {
          case 0 -> later.gone(seat);
          case 1 -> later.disabled(seat);
          case 2 -> later.takes(seat, "another");
          default -> {
            // The worker stays.
          }
        }
      }
      Fleet changed = later.fleet();
      fleet = changed;
      pass(START + MINUTE + 30_000);
      String waits = RunPlaces.waitsFor(record.job(), record.active().getFirst(), changed);
      for (Outcome.Child child : children) {
        boolean isServed = changed.working("q").stream()
            .anyMatch(seat -> changed.serves(seat, "q", child.id().address()));
        assertThat(isServed || cancels.contains(child.id()) || !waits.isEmpty())
            .as("shard %s of scope %s with %s", child.id().address(), scope, changed).isTrue();
      }
    }
  }

  @Test
  void aDeletedJobLooksAfterTheShardsThatItHasLeft() {
    job(minutely().scope(Scope.ALL).timeout(Duration.ofMinutes(10)));
    pass(START + MINUTE);
    assertThat(children).hasSize(3);
    record = JobChange.delete(record, false);
    fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").gone(2).fleet();
    long next = pass(START + 2 * MINUTE);
    assertThat(cancels).as("the shard of the worker that is gone").containsExactly(children.get(2).id());
    assertThat(next).as("as often as for a job that exists").isLessThanOrEqualTo(START + 2 * MINUTE + 10_000);
    assertThat(children).as("no further time runs").hasSize(3);
    ends.put(children.get(2).id(), new ShardEnd(ShardEnd.State.NOT_BEGUN, START + 2 * MINUTE));
    pass(START + 11 * MINUTE);
    assertThat(cancels).as("past the deadline of the run").containsExactlyInAnyOrder(children.get(0).id(),
        children.get(1).id());
    succeed(START + 11 * MINUTE);
    JobLife.Plan last = JobLife.plan(record, START + 12 * MINUTE, ends, NO_CALENDARS, Attendance.of(fleet));
    assertThat(last.isOver()).isTrue();
  }

  @Test
  void aJobThatIsCreatedAgainLooksAfterTheShardsOfItsPredecessor() {
    job(minutely().scope(Scope.ALL));
    pass(START + MINUTE);
    JobRecord deleted = JobChange.delete(record, false);
    job(Job.named("report").queue("another").at(Instant.ofEpochMilli(START).plusSeconds(3_600)));
    record = record.withLeft(deleted.left());
    record = JobChange.stop(JobChange.delete(record, true), START + MINUTE, START + MINUTE, NO_CALENDARS);
    assertThat(JobLife.stopping(record)).as("the runs of another queue are not stopped").isEmpty();
    assertThat(JobLife.stopping(JobChange.delete(deleted, true))).as("a repeated delete stops the runs").hasSize(3);
    succeed(START + 2 * MINUTE);
    ends.replaceAll((id, end) -> new ShardEnd(end.state(), end.at(), TaskNote.Mark.END_JOB, null));
    pass(START + 2 * MINUTE);
    assertThat(record.left()).isEmpty();
    assertThat(record.isEnded()).as("the mark concerns the deleted job").isFalse();
  }

  @Test
  void aJobWhoseCalendarIsMissingLooksAfterItsRuns() {
    record = JobChange.create(minutely().scope(Scope.ALL).schedule(s -> s.exclude(List.of("holidays"))).build(), START,
        name -> Calendar.NONE);
    JobLife.Plan begun = JobLife.plan(record, START + MINUTE, Map.of(), name -> Calendar.NONE, Attendance.of(fleet));
    begun.children().forEach(child -> ends.put(child.id(), new ShardEnd(ShardEnd.State.LIVE, 0)));
    fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").gone(2).fleet();
    JobLife.Plan blind = JobLife.plan(begun.record(), START + 2 * MINUTE, ends, NO_CALENDARS, Attendance.of(fleet));
    assertThat(blind.cancels()).containsExactly(begun.children().get(2).id());
    assertThat(blind.failure()).isInstanceOf(ScheduleException.class);
    assertThat(blind.at()).isLessThanOrEqualTo(START + 2 * MINUTE + 10_000);
    succeed(START + 2 * MINUTE);
    JobLife.Plan ended = JobLife.plan(begun.record(), START + 2 * MINUTE, ends, NO_CALENDARS, Attendance.of(fleet));
    assertThat(ended.record().active()).isEmpty();
    assertThat(ended.failure()).as("the end of the run is written").isNull();
    assertThat(ended.record().cursor()).as("no time is decided").isEqualTo(START + MINUTE);
  }

  @Test
  void oneShardHasNoAddress() {
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(Address.ANYWHERE);
    assertThat(record.active().getFirst().targets()).isEqualTo(Targets.NONE);
  }

  @Test
  void shardsAreDividedAmongTheWorkersOfTheQueue() {
    job(minutely().shards(4));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(seat(0), seat(1), seat(2), seat(0));
    assertThat(headers(JobHeaders.SHARD)).containsExactly("0", "1", "2", "3");
    assertThat(headers(JobHeaders.SHARDS)).containsOnly("4");
    assertThat(headers(JobHeaders.ZONE)).containsOnlyNulls();
  }

  @Test
  void freeShardsAndShardsWithoutWorkersHaveNoAddress() {
    job(minutely().shards(4).allocation(Allocation.FREE));
    pass(START + MINUTE);
    job(minutely().shards(4));
    for (Fleet none : new Fleet[]{Fleet.EMPTY, new Workers().add("w0", "a").disabled(0).fleet(), null}) {
      fleet = none;
      pass(START + MINUTE);
      job(minutely().shards(4));
    }
    assertThat(addresses()).hasSize(16).containsOnly(Address.ANYWHERE);
  }

  @Test
  void workersThatAreDisabledOrOfAnotherQueueGetNoShards() {
    fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "a").disabled(0).gone(2).fleet();
    job(minutely().shards(3));
    pass(START + MINUTE);
    assertThat(addresses()).containsOnly(seat(1));
    job(Job.named("report").queue("other").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO))
        .shards(2));
    children.clear();
    pass(START + MINUTE);
    assertThat(addresses()).containsOnly(Address.ANYWHERE);
  }

  @Test
  void targetsAreFrozenWhenARunStarts() {
    job(minutely().shards(1_200));
    JobLife.Plan first = JobLife.plan(record, START + MINUTE, Map.of(), NO_CALENDARS, Attendance.of(fleet));
    JobLife.Plan again = JobLife.plan(first.record(), START + MINUTE, Map.of(), NO_CALENDARS,
        Attendance.of(new Workers().add("other", "a").fleet()));
    assertThat(again.record().active().getFirst().targets()).isEqualTo(first.record().active().getFirst().targets());
    assertThat(again.children().stream().map(child -> child.id().address())).contains(seat(1), seat(2));
    assertThat(JobLife.wanted(again.record())).as("no end is read while shards remain to be inserted").isEmpty();
    JobLife.Plan last = JobLife.plan(again.record(), START + MINUTE, Map.of(), NO_CALENDARS, Attendance.of(fleet));
    List<TaskId> wanted = JobLife.wanted(last.record());
    assertThat(wanted.subList(0, 500)).isEqualTo(first.children().stream().map(Outcome.Child::id).toList());
  }

  @Test
  void moreEndsAreReadSoonIfMostShardsHaveEnded() {
    job(minutely().shards(3_000));
    long now = START + MINUTE;
    JobLife.Plan plan = JobLife.plan(record, now, Map.of(), NO_CALENDARS, Attendance.of(fleet));
    while (plan.record().active().getFirst().inserted() < 3_000) {
      assertThat(plan.at()).as("insertion goes on").isEqualTo(now);
      plan = JobLife.plan(plan.record(), now, Map.of(), NO_CALENDARS, Attendance.of(fleet));
    }
    JobRecord whole = plan.record();
    assertThat(JobLife.plan(whole, now, ends(whole, 1_000), NO_CALENDARS, Attendance.of(fleet)).at())
        .isEqualTo(now + 1);
    assertThat(JobLife.plan(whole, now, ends(whole, 10), NO_CALENDARS, Attendance.of(fleet)).at()).isEqualTo(now + 100);
    assertThat(JobLife.plan(whole, now, ends(whole, 0), NO_CALENDARS, Attendance.of(fleet)).at())
        .as("a hint comes earlier")
        .isEqualTo(now + 30_000);
  }

  /** Returns the ends that the next pass reads: the first {@code ended} have succeeded, and all others are live. */
  private static Map<TaskId, ShardEnd> ends(JobRecord record, int ended) {
    Map<TaskId, ShardEnd> ends = new HashMap<>();
    for (TaskId id : JobLife.wanted(record)) {
      ends.put(id, new ShardEnd(ends.size() < ended ? ShardEnd.State.SUCCEEDED : ShardEnd.State.LIVE, START));
    }
    assertThat(ends).hasSize(1_000);
    return ends;
  }

  /** A stopped run gets no further shards. So a pass reads the ends of the shards that were inserted. */
  @Test
  void theEndsOfAPartlyInsertedStoppedRunAreRead() {
    job(minutely().shards(1_200).timeout(Duration.ofMinutes(1)));
    JobLife.Plan first = JobLife.plan(record, START + MINUTE, Map.of(), NO_CALENDARS, Attendance.of(fleet));
    assertThat(first.record().active().getFirst().inserted()).isLessThan(1_200);
    JobLife.Plan stopped = JobLife.plan(first.record(), START + 3 * MINUTE, Map.of(), NO_CALENDARS,
        Attendance.of(fleet));
    assertThat(stopped.record().active().getFirst().isStopping()).isTrue();
    assertThat(JobLife.wanted(stopped.record())).hasSize(first.children().size());
  }

  @Test
  void theNextRunIsAllocatedToTheLiveWorkers() {
    job(minutely().shards(3));
    pass(START + MINUTE);
    succeed(START + MINUTE + 1);
    fleet = new Workers().add("w0", "a").fleet();
    pass(START + 2 * MINUTE);
    assertThat(addresses()).containsExactly(seat(0), seat(1), seat(2), seat(0), seat(0), seat(0));
  }

  @Test
  void aChangeOfTheDefinitionTakesEffectWithTheNextRun() {
    job(minutely().shards(3).overlap(Overlap.ALLOW));
    pass(START + MINUTE);
    record = JobChange.put(record, minutely().shards(1).scope(Scope.ALL).build(), START + MINUTE + 1, NO_CALENDARS);
    pass(START + MINUTE + 2);
    assertThat(record.active().getFirst().targets().address(1)).isEqualTo(seat(1));
    succeed(START + MINUTE + 3);
    pass(START + 2 * MINUTE);
    assertThat(record.history().getLast().shards()).isEqualTo(3);
    assertThat(addresses().subList(3, 6)).extracting(Address::kind).containsOnly(Address.Kind.ONLY);
  }

  @Test
  void eachZoneWithAWorkerGetsAShard() {
    job(minutely().scope(Scope.PER_ZONE));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(new Address(Address.Kind.ZONE, 0), new Address(Address.Kind.ZONE, 1));
    assertThat(headers(JobHeaders.ZONE)).containsExactly("a", "b");
    assertThat(headers(JobHeaders.SHARD)).containsOnly("0");
    assertThat(headers(JobHeaders.SHARDS)).containsOnly("1");
    assertThat(record.active().getFirst().shards()).isEqualTo(2);
  }

  @Test
  void shardsPerZoneAreDividedWithinTheirZone() {
    job(minutely().scope(Scope.PER_ZONE).shards(2, "even", "odd"));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(new Address(Address.Kind.ZONE_SEAT, 0),
        new Address(Address.Kind.ZONE_SEAT, 1), new Address(Address.Kind.ZONE_SEAT, 2),
        new Address(Address.Kind.ZONE_SEAT, 2));
    assertThat(headers(JobHeaders.SHARD)).containsExactly("0", "1", "0", "1");
    assertThat(headers(JobHeaders.SHARDS)).containsOnly("2");
    assertThat(headers(JobHeaders.SHARD_PARAMETER)).containsExactly("even", "odd", "even", "odd");
    assertThat(headers(JobHeaders.ZONE)).containsExactly("a", "a", "b", "b");
  }

  @Test
  void aZoneWithoutALiveWorkerKeepsItsShards() {
    fleet = new Workers().add("w0", "a").add("w1", "b").gone(1).fleet();
    job(minutely().scope(Scope.PER_ZONE).zones("b", "a").shards(2));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(new Address(Address.Kind.ZONE, 1), new Address(Address.Kind.ZONE, 1),
        new Address(Address.Kind.ZONE_SEAT, 0), new Address(Address.Kind.ZONE_SEAT, 0));
    assertThat(RunPlaces.waitsFor(record.job(), record.active().getFirst(), fleet))
        .isEqualTo("waits for a worker in zone b");
  }

  @Test
  void aFixedDelayContinuesAfterAStopOfItsWaitingTime() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).scope(Scope.PER_ZONE).zones("new"));
    pass(START);
    long waiting = record.waiting().getFirst().time();
    record = JobChange.stop(record, waiting, START + 1_000, NO_CALENDARS);
    assertThat(record.waiting()).isEmpty();
    fleet = new Workers().add("w0", "new").fleet();
    pass(START + 10 * MINUTE);
    assertThat(record.active()).hasSize(1);
  }

  @Test
  void aTimeWaitsForAZoneThatNeverHadAWorker() {
    job(minutely().scope(Scope.PER_ZONE).zones("a", "new"));
    assertThat(pass(START + MINUTE)).as("the next pass tries again soon").isEqualTo(START + MINUTE + 2_000);
    pass(START + MINUTE + 2_000);
    assertThat(record.waiting()).hasSize(1);
    pass(START + 2 * MINUTE);
    pass(START + 3 * MINUTE);
    assertThat(record.waiting()).as("one waiting run, no more").hasSize(1);
    assertThat(record.totals().skipped()).isEqualTo(2);
    assertThat(RunPlaces.choose(record.job(), record.job().parameter(), Attendance.of(fleet), 0, allocators))
        .isEqualTo(new RunPlaces.Wait("waits for a worker in zone new"));
    fleet = new Workers().add("w0", "a").add("w1", "new").fleet();
    pass(START + 3 * MINUTE + 10);
    assertThat(headers(JobHeaders.ZONE)).containsExactly("a", "new");
    assertThat(record.active().getFirst().time()).isEqualTo(START + MINUTE);
    assertThat(record.waiting()).isEmpty();
  }

  @Test
  void aRunIsNoLargerThanItsBoundInAllZonesAndOnAllWorkers() {
    Job.Builder job = minutely().parameter(new Body(new byte[16 << 10], "a/b", Map.of()));
    Job perZone = job.scope(Scope.PER_ZONE).shards(600).build();
    assertThat(RunPlaces.choose(perZone, perZone.parameter(), Attendance.of(Workers.of(3)), 0, allocators))
        .isInstanceOf(RunPlaces.Begin.class);
    Fleet zones = new Workers().add("w0", "a").add("w1", "b").fleet();
    ensureTooLarge(RunPlaces.choose(perZone, perZone.parameter(), Attendance.of(zones), 0, allocators));
    Job all = job.scope(Scope.ALL).shards(1).build();
    assertThat(RunPlaces.choose(all, all.parameter(), Attendance.of(Workers.of(1_024)), 0, allocators))
        .isInstanceOf(RunPlaces.Begin.class);
    ensureTooLarge(RunPlaces.choose(all, all.parameter(), Attendance.of(Workers.of(1_025)), 0, allocators));
  }

  private static void ensureTooLarge(RunPlaces.Choice choice) {
    assertThat(choice).isInstanceOfSatisfying(RunPlaces.TooLarge.class,
        large -> assertThat(large.reason()).hasMessageContainingAll("parameter", "16777216"));
  }

  /** The zone or the shards that make the run too large may come after the trigger. */
  @Test
  void theOwnParameterOfARunCountsWhenTheRunBegins() {
    Body own = new Body(new byte[4_096], "a/b", Map.of());
    Fleet one = new Workers().add("w0", "a").fleet();
    job(minutely().scope(Scope.PER_ZONE).shards(3_000));
    record = JobChange.trigger(record, null, own, one, START).record();
    pass(START);
    assertThat(failure).hasMessageContainingAll("parameter", "16777216", "24576000");
    assertThat(record.waiting()).hasSize(1);
    fleet = one;
    pass(START);
    assertThat(failure).isNull();
    assertThat(record.active()).hasSize(1);
    job(minutely().shards(1));
    record = JobChange.trigger(record, null, own, fleet, START).record();
    record = JobChange.put(record, minutely().shards(5_000).build(), START, NO_CALENDARS);
    pass(START);
    assertThat(failure).hasMessageContainingAll("parameter", "16777216", "20480000");
    assertThat(record.active()).isEmpty();
  }

  @Test
  void aSmallOwnParameterLetsALargeJobRun() {
    Body large = new Body(new byte[16 << 10], "a/b", Map.of());
    job(minutely().scope(Scope.PER_ZONE).shards(600).parameter(large));
    record = JobChange.trigger(record, null, Body.json("1"), fleet, START).record();
    pass(START);
    assertThat(record.active()).extracting(Run::shards).containsExactly(1_200);
  }

  @Test
  void aPassFailsForATooLargeRunOnceNothingElseIsToBeRecorded() {
    fleet = new Workers().add("w0", "a").fleet();
    job(minutely().scope(Scope.PER_ZONE).shards(5_001).overlap(Overlap.ALLOW));
    pass(START + MINUTE);
    fleet = new Workers().add("w0", "a").add("w1", "b").fleet();
    long now = START + 2 * MINUTE;
    assertThat(pass(now)).as("the next pass tries again soon").isEqualTo(now + 2_000);
    assertThat(failure).as("the pass has recorded the waiting time").isNull();
    assertThat(record.waiting()).hasSize(1);
    record = JobChange.stop(record, START + MINUTE, now, NO_CALENDARS);
    pass(now + 1);
    pass(now + 2);
    assertThat(failure).hasMessageContaining("with zones=2");
    assertThat(cancels).as("a pass that fails cancels shards, too").hasSize(1_000);
    succeed(now + 3);
    for (int i = 0; i < 6; i++) {
      pass(now + 4 + i);
    }
    assertThat(record.history()).extracting(PastRun::result).containsExactly(PastRun.Result.STOPPED);
    assertThat(record.waiting()).hasSize(1);
    pass(now + 20);
    assertThat(failure).as("no run is active").hasMessageContaining("with zones=2");
  }

  private static ShardAllocator.Worker named(List<ShardAllocator.Worker> workers, @Nullable String name) {
    return workers.stream().filter(worker -> worker.name().equals(name)).findFirst().orElseThrow();
  }

  /** Registers an allocator that gives each shard to the worker that the shard's parameter names. */
  private void registerByParameter() {
    allocators = new Allocators(Map.of("by-parameter", (job, workers) -> IntStream.range(0, job.shards())
        .mapToObj(shard -> named(workers, job.shardParameter(shard))).toList()));
  }

  private String waitReason() {
    return RunPlaces.choose(record.job(), record.job().parameter(), Attendance.of(fleet), 0,
        allocators) instanceof RunPlaces.Wait wait
            ? wait.reason()
            : "";
  }

  @Test
  void theAllocatorOfTheApplicationDecides() {
    registerByParameter();
    job(minutely().shards(4, "w2", "w0", "w2", "w1").allocator("by-parameter"));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(seat(2), seat(0), seat(2), seat(1));
    succeed(START + MINUTE + 1);
    children.clear();
    fleet = new Workers().add("other", "a").add("w1", "a").add("w2", "a").add("w0", "b").fleet();
    pass(START + 2 * MINUTE);
    assertThat(addresses()).as("called again for the next run").containsExactly(seat(2), seat(3), seat(2), seat(1));
  }

  @Test
  void theAllocatorAlsoPlacesASingleShard() {
    registerByParameter();
    job(minutely().shards(1, "w1").allocator("by-parameter"));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(seat(1));
  }

  @Test
  void theAllocatorIsCalledForEachZone() {
    allocators = new Allocators(Map.of("last",
        (job, workers) -> Collections.nCopies(job.shards(), workers.getLast())));
    job(minutely().scope(Scope.PER_ZONE).shards(2).allocator("last"));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(new Address(Address.Kind.ZONE_SEAT, 1),
        new Address(Address.Kind.ZONE_SEAT, 1), new Address(Address.Kind.ZONE_SEAT, 2),
        new Address(Address.Kind.ZONE_SEAT, 2));
  }

  @Test
  void aRunWaitsForItsAllocatorAndUsesNoOtherRule() {
    job(minutely().shards(2, "w1", "w2").allocator("by-parameter"));
    assertThat(pass(START + MINUTE)).as("the next pass tries again soon").isEqualTo(START + MINUTE + 2_000);
    pass(START + 2 * MINUTE);
    pass(START + 3 * MINUTE);
    assertThat(children).isEmpty();
    assertThat(record.waiting()).as("one waiting run, no more").hasSize(1);
    assertThat(record.totals().skipped()).isEqualTo(2);
    assertThat(waitReason()).startsWith("waits for its allocator, which this node does not have");
    allocators = new Allocators(Map.of("by-parameter", (job, workers) -> List.of()));
    pass(START + 3 * MINUTE + 2_000);
    assertThat(waitReason()).contains("returned 0 workers for 2 shards");
    fleet = new Workers().add("w1", "a").fleet();
    registerByParameter();
    pass(START + 3 * MINUTE + 4_000);
    assertThat(waitReason()).contains("failed: java.util.NoSuchElementException");
    fleet = new Workers().add("w2", "a").add("w1", "a").fleet();
    pass(START + 3 * MINUTE + 6_000);
    assertThat(addresses()).containsExactly(seat(1), seat(0));
    assertThat(record.active().getFirst().time()).isEqualTo(START + MINUTE);
    assertThat(record.waiting()).isEmpty();
  }

  @Test
  void aRunWaitsForAllocatorAndWorkersUnderEachOverlapRule() {
    for (Overlap rule : Overlap.values()) {
      for (Fleet none : new Fleet[]{fleet, Fleet.EMPTY, null}) {
        job(minutely().shards(2, "w1", "w0").allocator("by-parameter").overlap(rule));
        Fleet workers = fleet;
        fleet = none;
        allocators = Allocators.NONE;
        if (none != workers) {
          registerByParameter();
        }
        children.clear();
        for (int minute = 1; minute <= 4; minute++) {
          pass(START + minute * MINUTE);
        }
        assertThat(children).as("%s", rule).isEmpty();
        int scheduled = (int) record.waiting().stream().filter(JobRecord.Waiting::waits).count();
        assertThat(scheduled).as("%s: one run waits", rule).isEqualTo(1);
        assertThat(record.waiting().size() + record.totals().skipped()).as("%s: no time is lost", rule).isEqualTo(4);
        fleet = workers;
        registerByParameter();
        pass(START + 5 * MINUTE);
        // With REPLACE, the pass before stops the first run, and this pass begins the run of the newest time.
        pass(START + 5 * MINUTE + 2_000);
        assertThat(addresses()).as("%s", rule).startsWith(seat(1), seat(0));
        ends.clear();
      }
    }
  }

  @Test
  void aFixedDelayWaitsForItsAllocatorOnce() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).shards(2, "w1", "w2").allocator("by-parameter"));
    pass(START);
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    assertThat(record.waiting()).hasSize(1);
    registerByParameter();
    pass(START + 2 * MINUTE + 1);
    assertThat(addresses()).containsExactly(seat(1), seat(2));
  }

  @Test
  void shardsWithAnAllocatorWaitForWorkers() {
    registerByParameter();
    fleet = Fleet.EMPTY;
    job(minutely().shards(2, "w1", "w2").allocator("by-parameter"));
    pass(START + MINUTE);
    assertThat(waitReason()).isEqualTo("waits for a worker of queue q");
    job(minutely().scope(Scope.PER_ZONE).zones("a", "b").shards(1, "w0").allocator("by-parameter"));
    fleet = new Workers().add("w0", "a").add("w1", "b").gone(1).fleet();
    pass(START + MINUTE);
    assertThat(waitReason()).isEqualTo("waits for a worker in zone b");
    fleet = null;
    assertThat(waitReason()).isEqualTo("waits until the workers of its queue have been read");
    assertThat(children).isEmpty();
  }

  @Test
  void aDefinitionWithoutAnAllocatorEndsTheWait() {
    job(minutely().shards(2).allocator("by-parameter"));
    pass(START + MINUTE);
    record = JobChange.put(record, minutely().shards(2).build(), START + MINUTE + 1, NO_CALENDARS);
    pass(START + MINUTE + 2);
    assertThat(addresses()).containsExactly(seat(0), seat(1));
  }

  @Test
  void scopeAllInsertsOneShardForEachWorker() {
    fleet = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").add("w3", "b").disabled(1).fleet();
    job(minutely().scope(Scope.ALL));
    pass(START + MINUTE);
    assertThat(addresses()).containsExactly(new Address(Address.Kind.ONLY, 0), new Address(Address.Kind.ONLY, 2),
        new Address(Address.Kind.ONLY, 3));
    assertThat(headers(JobHeaders.SHARD)).containsExactly("0", "1", "2");
    assertThat(headers(JobHeaders.SHARDS)).containsOnly("3");
  }

  @Test
  void scopeAllWithoutWorkersIsRecordedAsNoTargets() {
    fleet = Fleet.EMPTY;
    job(minutely().scope(Scope.ALL));
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    assertThat(record.history()).hasSize(1);
    assertThat(record.history().getFirst().result()).isEqualTo(PastRun.Result.NO_TARGETS);
    assertThat(record.history().getFirst().count()).isEqualTo(2);
    assertThat(record.totals().noTargets()).isEqualTo(2);
    assertThat(record.totals().fired()).isZero();
    record = JobChange.trigger(record, null, START + 2 * MINUTE + 1).record();
    pass(START + 2 * MINUTE + 1);
    assertThat(record.totals().requested()).isEqualTo(1);
    assertThat(record.waiting()).isEmpty();
  }

  @Test
  void aFixedDelayWithoutWorkersContinues() {
    fleet = Fleet.EMPTY;
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).scope(Scope.ALL));
    pass(START);
    assertThat(record.totals().noTargets()).isEqualTo(1);
    assertThat(record.nextAfter()).isEqualTo(START + MINUTE);
  }

  @Test
  void aTimeWaitsUntilTheWorkersHaveBeenRead() {
    fleet = null;
    job(minutely().scope(Scope.ALL));
    assertThat(pass(START + MINUTE)).isEqualTo(START + MINUTE + 2_000);
    assertThat(record.waiting()).hasSize(1);
    assertThat(record.history()).isEmpty();
  }

  @Test
  void aShardWhoseTargetIsGoneIsCancelledWithoutAFailure() {
    Workers workers = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").add("w3", "b");
    fleet = workers.fleet();
    job(minutely().scope(Scope.ALL));
    long next = pass(START + MINUTE);
    assertThat(next).isLessThanOrEqualTo(START + MINUTE + 10_000);
    TaskId waits = children.get(1).id();
    TaskId runs = children.get(2).id();
    TaskId lost = children.get(3).id();
    ends.put(children.get(0).id(), new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 5));
    ends.put(runs, new ShardEnd(ShardEnd.State.RUNNING, next + 1));
    ends.put(lost, new ShardEnd(ShardEnd.State.RUNNING, next));
    pass(START + MINUTE + 100);
    assertThat(cancels).as("all workers are alive").isEmpty();
    fleet = workers.gone(1).disabled(2).gone(3).fleet();
    pass(next);
    assertThat(cancels).containsExactlyInAnyOrder(waits, lost);
    ends.put(waits, new ShardEnd(ShardEnd.State.NOT_BEGUN, next));
    ends.put(runs, new ShardEnd(ShardEnd.State.SUCCEEDED, next + 3));
    ends.put(lost, new ShardEnd(ShardEnd.State.SUCCEEDED, next + 3));
    pass(next + 5);
    PastRun past = record.history().getFirst();
    assertThat(past.result()).isEqualTo(PastRun.Result.SUCCEEDED);
    assertThat(past.gone()).isEqualTo(1);
    assertThat(past.failed()).isZero();
  }

  @Test
  void aRunWhoseTargetsAreAllGoneHasFailed() {
    job(minutely().scope(Scope.ALL));
    pass(START + MINUTE);
    ends.replaceAll((id, end) -> new ShardEnd(ShardEnd.State.NOT_BEGUN, START + MINUTE + 1));
    pass(START + MINUTE + 2);
    assertThat(record.history().getFirst().result()).isEqualTo(PastRun.Result.FAILED);
    assertThat(record.history().getFirst().gone()).isEqualTo(3);
  }

  @Test
  void aTimeBeginsOnWorkersThatComeBackWithinHalfAMinute() {
    for (Job.Builder job : List.of(minutely().scope(Scope.ALL), minutely().scope(Scope.PER_ZONE))) {
      Workers away = new Workers().add("w0", "a").add("w1", "b").gone(0).gone(1);
      long time = START + MINUTE;
      attendance = Attendance.UNKNOWN.with(away.fleet(), time);
      job(job);
      assertThat(pass(time + 100)).isEqualTo(time + 2_100);
      attendance = attendance.with(new Workers().add("w0", "a").add("w1", "b").gone(1).fleet(), time + 200);
      pass(time + 2_100);
      assertThat(record.waiting()).as("the second worker may be on its way back").hasSize(1);
      attendance = attendance.with(new Workers().add("w0", "a").add("w1", "b").fleet(), time + 2_200);
      pass(time + 4_100);
      assertThat(record.active().getFirst().shards()).isEqualTo(2);
      assertThat(record.totals().noTargets()).isZero();
    }
  }

  @Test
  void aTimeHasNoTargetsAfterHalfAMinuteWithoutAWorker() {
    long time = START + MINUTE;
    attendance = Attendance.UNKNOWN.with(new Workers().add("w0", "a").fleet(), START)
        .with(new Workers().add("w0", "a").gone(0).fleet(), time - 1_000);
    job(minutely().scope(Scope.ALL).overlap(Overlap.QUEUE));
    pass(time);
    pass(time + 28_999);
    assertThat(record.totals().noTargets()).isZero();
    pass(time + 29_000);
    assertThat(record.totals().noTargets()).isEqualTo(1);
    pass(time + MINUTE);
    assertThat(record.totals().noTargets()).as("the worker is still away").isEqualTo(2);
  }

  @Test
  void aShardIsKeptWhileItsWorkerMayComeBack() {
    Workers workers = new Workers().add("w0", "a");
    job(minutely().scope(Scope.ALL));
    attendance = Attendance.UNKNOWN.with(workers.fleet(), START);
    long time = START + MINUTE;
    pass(time);
    attendance = attendance.with(workers.gone(0).fleet(), time + 1_000);
    pass(time + 10_999);
    assertThat(cancels).isEmpty();
    pass(time + 11_000);
    assertThat(cancels).hasSize(1);
    attendance = Attendance.UNKNOWN.with(workers.fleet(), time + 20_000);
    pass(time + 49_999);
    assertThat(cancels).as("the node has just begun to read").isEmpty();
    pass(time + 50_000);
    assertThat(cancels).hasSize(1);
  }

  @Test
  void aClockThatWasAheadDoesNotProlongTheWaitForWorkers() {
    long hour = 60 * MINUTE;
    Workers away = new Workers().add("w0", "a").gone(0);
    Attendance ahead = Attendance.UNKNOWN.with(away.fleet(), START + hour);
    assertThat(ahead.asOf(START).isWithoutWorker("q", START + 30_000)).isTrue();
    Attendance gone = Attendance.UNKNOWN.with(Workers.of(1), START).with(away.fleet(), START + hour);
    assertThat(gone.asOf(START + 1).isGone(away.fleet().seats().getFirst(), "q", START + 10_001)).isTrue();
    assertThat(gone.asOf(START + hour)).isSameAs(gone);
  }

  @Test
  void aSeatThatWasNotReadYetIsNotGone() {
    job(minutely().scope(Scope.ALL));
    pass(START + MINUTE);
    fleet = new Workers().add("w0", "a").fleet();
    pass(START + MINUTE + 100);
    assertThat(cancels).isEmpty();
  }

  @Test
  void invalidScopesAndTooManyShardsAreRefused() {
    assertThatThrownBy(() -> minutely().scope(Scope.PER_ZONE).zones("a", "b").shards(5_001).build())
        .hasMessageContaining("at most 10000 in all zones together");
    assertThatThrownBy(() -> minutely().scope(Scope.ALL).shards(2).build())
        .hasMessageContaining("scope all, which has one shard for each worker");
    assertThatThrownBy(() -> minutely().zones("a").build()).hasMessageContaining("scope is per-zone");
    job(minutely().scope(Scope.PER_ZONE).shards(5_001));
    pass(START + MINUTE);
    assertThat(failure).hasMessageContaining("in all zones together, with zones=2");
  }
}
