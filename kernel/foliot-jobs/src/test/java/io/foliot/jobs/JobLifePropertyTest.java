package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.core.coordination.Fleet;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Simulates jobs with random workers, passes, outages and changes. Checks that each scheduled time is counted exactly
 * once: as fired, skipped, missed, paused or without targets, or as a time that still waits.
 */
final class JobLifePropertyTest {
  private static final int SEEDS = Integer.getInteger("foliot.seeds", 150);
  private static final int SEEDS_PER_FAULT = 500;
  private static final int STEPS = 60;
  /** Number of failed shards that ran again, over all seeds. */
  private static final AtomicInteger REDRIVEN = new AtomicInteger();
  /** Instants a few hours before a gap and before an overlap in the local time of Berlin. */
  private static final List<Instant> CHANGES = List.of(Instant.parse("2026-03-28T22:00:00Z"),
      Instant.parse("2026-10-24T21:00:00Z"));
  private static final List<String> CRONS = List.of("* * * * *", "*/5 * * * *", "0 * * * *", "*/20 * * * * *",
      "0 2 * * *", "30 1,2 * * SUN");

  @Test
  void eachTimeHasOneRunOrOneRecord() {
    Long only = Long.getLong("foliot.seed");
    for (long seed = only == null ? 0 : only; seed < (only == null ? SEEDS : only + 1); seed++) {
      run(seed, JobWorld.Fault.NONE);
    }
    assertThat(only != null || REDRIVEN.get() > 0).as("failed shards ran again").isTrue();
  }

  @Test
  void eachFaultOfThePlannerIsCaught() {
    for (JobWorld.Fault fault : EnumSet.complementOf(EnumSet.of(JobWorld.Fault.NONE))) {
      assertThat(LongStream.range(0, SEEDS_PER_FAULT).anyMatch(seed -> isCaught(seed, fault))).as("%s", fault).isTrue();
    }
  }

  /**
   * Returns whether the simulation with the fault fails. If so, this method asserts two things: a check of the
   * simulation failed, and the simulation without the fault passes.
   */
  private static boolean isCaught(long seed, JobWorld.Fault fault) {
    try {
      run(seed, fault);
      return false;
    } catch (AssertionError e) {
      assertThat(e).hasCauseInstanceOf(AssertionError.class);
      run(seed, JobWorld.Fault.NONE);
      return true;
    }
  }

  private static void run(long seed, JobWorld.Fault fault) {
    Random random = new Random(seed);
    long start = CHANGES.get((int) (seed % CHANGES.size())).toEpochMilli() + random.nextInt(86_400_000);
    JobWorld world = new JobWorld(random, job(random), start);
    world.fault = fault;
    world.failPercent = random.nextInt(30);
    world.longestRun = 1L << random.nextInt(22);
    world.retention = random.nextInt(4) == 0 ? 60_000 : Long.MAX_VALUE;
    try {
      for (int step = 0; step < STEPS; step++) {
        step(world, random);
      }
      world.checkAccounts();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + world.record.job(), e);
    }
  }

  private static void step(JobWorld world, Random random) {
    switch (random.nextInt(18)) {
      case 17 -> REDRIVEN.addAndGet(world.redrive() ? 1 : 0);
      case 16 -> world.allocators = random.nextInt(3) == 0 ? Allocators.NONE : JobWorld.LAST;
      case 14, 15 -> world.fleet = fleet(random);
      case 0 -> world.outage(random.nextInt(3 * 3_600_000));
      case 1 -> world.outage(random.nextInt(100_000));
      case 2 -> world.pass();
      case 3 -> {
        world.pass();
        world.pass();
      }
      case 4 -> world.pause();
      case 5, 6 -> world.resume();
      case 7 -> {
        if (world.record.waiting().size() < JobRecord.MAX_WAITING) {
          world.trigger(random.nextBoolean() ? "key " + random.nextInt(3) : null);
        }
      }
      case 8 -> world.put(job(random));
      case 9 -> {
        if (!world.record.active().isEmpty()) {
          world.stop(world.record.active().getFirst().time());
        }
      }
      case 10 -> world.checkAccounts();
      default -> world.runUntil(world.now + random.nextInt(1 << random.nextInt(10, 21)));
    }
  }

  private static Job job(Random random) {
    Job.Builder job = Job.named("job").queue("q");
    switch (random.nextInt(3)) {
      case 0 -> job.every(Duration.ofMillis(100L << random.nextInt(3, 16)));
      default -> job.cron(CRONS.get(random.nextInt(CRONS.size()))).timeZone("Europe/Berlin");
    }
    if (random.nextInt(4) == 0) {
      job.timeout(Duration.ofMillis(1 + random.nextInt(100_000)));
    }
    Duration window = Duration.ofMillis(1L << random.nextInt(27));
    job.misfire(switch (random.nextInt(4)) {
      case 0 -> Misfire.once(window);
      case 1 -> Misfire.all(1 + random.nextInt(Misfire.MAX_RUNS), window);
      case 2 -> Misfire.skip(window);
      default -> Misfire.DEFAULT;
    });
    job.shards(1 + random.nextInt(3));
    Scope scope = scope(job, random);
    Allocation allocation = any(random, Allocation.values());
    if (allocation == Allocation.OWN && scope != Scope.ALL) {
      job.allocator("last");
    } else {
      job.allocation(allocation == Allocation.OWN ? Allocation.AVERAGE : allocation);
    }
    return job.overlap(any(random, Overlap.values())).scope(scope).runListeners(listeners(random))
        .history(1 + random.nextInt(Job.MAX_HISTORY)).build();
  }

  private static RunPhase[] listeners(Random random) {
    return switch (random.nextInt(5)) {
      case 0 -> new RunPhase[]{RunPhase.BEFORE};
      case 1 -> new RunPhase[]{RunPhase.AFTER};
      case 2 -> new RunPhase[]{RunPhase.BEFORE, RunPhase.AFTER};
      default -> new RunPhase[]{};
    };
  }

  private static Scope scope(Job.Builder job, Random random) {
    Scope scope = random.nextBoolean() ? Scope.ONE : any(random, Scope.values());
    if (scope == Scope.ALL) {
      job.shards(1);
    } else if (scope == Scope.PER_ZONE && random.nextBoolean()) {
      job.zones("zone-0", "zone-" + (1 + random.nextInt(3)));
    }
    return scope;
  }

  /**
   * Returns up to seven workers in up to three zones. Some of the workers may be gone or disabled. Returns null if the
   * workers were not read.
   */
  private static @Nullable Fleet fleet(Random random) {
    if (random.nextInt(8) == 0) {
      return null;
    }
    Workers workers = new Workers();
    int count = random.nextInt(8);
    for (int i = 0; i < count; i++) {
      // Seat i is always in zone i % 3, and no two seats have the same worker.
      workers.add("worker-" + (random.nextInt(100) * 8 + i), "zone-" + i % 3);
      switch (random.nextInt(5)) {
        case 0 -> workers.gone(i);
        case 1 -> workers.disabled(i);
        default -> {
        }
      }
    }
    return workers.fleet();
  }

  private static <T> T any(Random random, T[] values) {
    return List.of(values).get(random.nextInt(values.length));
  }

  /** The history keeps all entries, so each time that ran too early is known. */
  @Test
  void eachTimeHasOneRunOrOneRecordAlthoughTheClockWasAhead() {
    for (long seed = 0; seed < SEEDS / 5; seed++) {
      Random random = new Random(seed);
      long start = CHANGES.get((int) (seed % CHANGES.size())).toEpochMilli() + random.nextInt(86_400_000);
      Job drawn = job(random);
      Job.Builder timed = Job.named("job").queue("q");
      Job job = (random.nextBoolean()
          ? timed.every(Duration.ofSeconds(120 + random.nextInt(600)))
          : timed.cron(CRONS.get(1 + random.nextInt(2))).timeZone("Europe/Berlin")).shards(drawn.shards())
          .overlap(drawn.overlap())
          .misfire(drawn.misfire()).timeout(drawn.timeout()).history(Job.MAX_HISTORY).build();
      JobWorld world = new JobWorld(random, job, start);
      world.longestRun = 1L << random.nextInt(18);
      try {
        for (int step = 0; step < 4; step++) {
          world.runUntil(world.now + random.nextInt(1 << random.nextInt(10, 18)));
          world.clockAhead(random.nextInt(6_000, 3 * 3_600_000), random.nextInt(60_000));
          world.pass();
          assertThat(world.record.cursor()).as("the cursor is not ahead").isLessThanOrEqualTo(world.now + 5_000);
        }
        world.runUntil(world.now + 4 * 3_600_000);
        world.checkAccounts();
        assertThat(world.record.history().size()).as("entries").isLessThan(Job.MAX_HISTORY);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + job, e);
      }
    }
  }

  @Test
  void aRunInsertsAllOf10000ShardsAndThenEnds() {
    Random random = new Random(1);
    long start = Instant.parse("2026-01-01T00:00:30Z").toEpochMilli();
    JobWorld world = new JobWorld(random, Job.named("large").queue("q").cron("0 1 * * *").shards(10_000).build(),
        start);
    world.runUntil(start + Duration.ofHours(1).toMillis());
    assertThat(world.inserted()).isEqualTo(10_000);
    assertThat(world.record.active()).hasSize(1);
    world.runUntil(start + Duration.ofHours(2).toMillis());
    assertThat(world.record.active()).isEmpty();
    assertThat(world.record.totals().succeeded()).isEqualTo(1);
    assertThat(world.firedTimes()).isEqualTo(1);
  }
}
