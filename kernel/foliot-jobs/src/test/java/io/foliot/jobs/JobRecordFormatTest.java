package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.FieldType;
import io.foliot.api.Job;
import io.foliot.api.JobFields;
import io.foliot.api.Limits;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.core.Address;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that stored jobs are read as they were written, are refused if damaged, and have a bounded size. */
final class JobRecordFormatTest {
  private static final int ROUNDS = 500;
  /** Stored record of a plain job with an active run, as written by releases that had no listeners. */
  private static final String BEGUN = "0102036a6f6201710105657665727904505431530100010180f0b25201000000320100"
      + "00020100000002000100020101000000000000000000000002000000000000000000002bc67f75";
  private static final long[] TIMES = {0, 1, -1, 1_790_000_000_000L, 1_790_000_000_001L, 4_102_444_800_000L,
      Long.MAX_VALUE >> 8, Long.MIN_VALUE >> 8};

  @Test
  void aWrittenRecordIsReadBack() {
    Random random = new Random(1);
    for (int round = 0; round < ROUNDS; round++) {
      JobRecord record = record(random);
      byte[] bytes = JobRecordFormat.encode(record);
      assertThat(JobRecordFormat.decode("job", bytes)).as("round %s", round).isEqualTo(record);
    }
  }

  @Test
  void aJobOrRunWithoutPlacementTakesNoBytesForIt() {
    Job.Builder job = Job.named("job").queue("q").every(Duration.ofSeconds(1));
    JobRecord plain = JobChange.create(job.build(), 0, JobWorld.NO_CALENDARS);
    JobRecord free = JobChange.create(job.allocation(Allocation.FREE).build(), 0, JobWorld.NO_CALENDARS);
    // Three bytes: the scope, the allocation, and the number of zones.
    assertThat(JobRecordFormat.encode(free)).hasSize(JobRecordFormat.encode(plain).length + 3);
    JobRecord own = JobChange.create(job.allocator("by-region").build(), 0, JobWorld.NO_CALENDARS);
    assertThat(JobRecordFormat.encode(own)).hasSize(JobRecordFormat.encode(free).length + 1 + "by-region".length());
    assertThat(JobRecordFormat.hash(own.job())).as("a declared job with another allocator has another hash")
        .isNotEqualTo(JobRecordFormat.hash(job.allocator("by-regiom").build()));
    JobRecord begun = JobLife.plan(JobChange.trigger(plain, null, 1).record(), 1, Map.of(), JobWorld.NO_CALENDARS,
        Attendance.of(Workers.of(9))).record();
    assertThat(begun.active().getFirst().targets()).isEqualTo(Targets.NONE);
    JobEdit placed = new JobEdit(begun);
    Targets one = new Targets(List.of(new Targets.Group("", Address.Kind.ONLY, List.of(1))));
    placed.active.replaceAll(run -> Run.started(run.time(), run.origin(), 1, one, 0, run.begun(), 0).inserted(1));
    // Two bytes follow the targets: the number of shards whose target is gone, and the number of requests to run again.
    assertThat(JobRecordFormat.encode(placed.done()).length - JobRecordFormat.encode(begun).length)
        .isEqualTo(one.bytes() + 2);
  }

  @Test
  void aSettingWithoutAPlaceOfItsOwnIsWrittenWithItsName() {
    Job.Builder job = Job.named("job").queue("q").every(Duration.ofSeconds(1));
    JobRecord plain = JobChange.create(job.build(), 0, JobWorld.NO_CALENDARS);
    JobRecord labelled = JobChange.create(job.labels("team-a", "nightly").build(), 0, JobWorld.NO_CALENDARS);
    byte[] bytes = JobRecordFormat.encode(labelled);
    assertThat(JobRecordFormat.decode("job", bytes)).isEqualTo(labelled);
    assertThat(bytes).hasSize(JobRecordFormat.encode(plain).length + 1 + 1 + "labels".length() + 1
        + "team-a\nnightly".length());
    assertThat(JobRecordFormat.hash(labelled.job())).isNotEqualTo(JobRecordFormat.hash(plain.job()));
  }

  @Test
  void eachSettingWithoutAPlaceOfItsOwnHasATextThatIsReadAgain() {
    assertThat(JobFields.TABLE.all()).filteredOn(field -> !JobRecordFormat.PLACED.contains(field)).isNotEmpty()
        .allSatisfy(field -> assertThat(field.type()).as("the type of %s; give it a place in the bytes", field)
            .isNotInstanceOfAny(FieldType.Nested.class, FieldType.Delivery.class, FieldType.Json.class));
  }

  @Test
  void aJobWithoutListenersTakesNoBytesForThem() {
    Job.Builder job = Job.named("job").queue("q").every(Duration.ofSeconds(1));
    JobRecord plain = begun(job.build());
    JobRecord listened = begun(job.runListeners(RunPhase.AFTER).build());
    assertThat(plain.active().getFirst().listeners()).isSameAs(RunListeners.NONE);
    // The listeners take one byte in the definition. In the run they take three bytes, and the queue "q" takes two.
    assertThat(JobRecordFormat.encode(listened)).hasSize(JobRecordFormat.encode(plain).length + 1 + 3 + 2);
    assertThat(HexFormat.of().formatHex(JobRecordFormat.encode(plain))).isEqualTo(BEGUN);
  }

  private static JobRecord begun(Job job) {
    JobRecord created = JobChange.create(job, 0, JobWorld.NO_CALENDARS);
    return JobLife
        .plan(JobChange.trigger(created, null, 1).record(), 1, Map.of(), JobWorld.NO_CALENDARS, Attendance.of(null))
        .record();
  }

  @Test
  void everyCutIsRefused() {
    byte[] bytes = JobRecordFormat.encode(record(new Random(2)));
    for (int length = 0; length < bytes.length; length++) {
      ensureRefused("cut to " + length, Arrays.copyOf(bytes, length));
      ensureRefused("cut by " + length, Arrays.copyOfRange(bytes, length + 1, bytes.length));
    }
    ensureRefused("one byte more", Arrays.copyOf(bytes, bytes.length + 1));
  }

  @Test
  void everyFlippedBitIsRefused() {
    byte[] bytes = JobRecordFormat.encode(record(new Random(3)));
    for (int bit = 0; bit < 8 * bytes.length; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
      ensureRefused("bit " + bit, flipped);
    }
  }

  @Test
  void changedContentIsReadOrRefusedAsUnreadable() {
    Random random = new Random(4);
    byte[] bytes = JobRecordFormat.encode(record(random));
    for (int bit = 8; bit < 8 * (bytes.length - Checksum.BYTES); bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
      seal(flipped);
      try {
        assertThat(JobRecordFormat.decode("job", flipped)).isNotNull();
      } catch (UnreadableException e) {
        assertThat(e).hasMessageContaining("job");
      }
    }
  }

  @Test
  void aRecordOfAnotherJobIsRefused() {
    byte[] bytes = JobRecordFormat.encode(record(new Random(5)));
    assertThatThrownBy(() -> JobRecordFormat.decode("other", bytes)).isInstanceOf(UnreadableException.class);
  }

  @Test
  void aNewerVersionIsDistinguishedFromDamage() {
    byte[] bytes = JobRecordFormat.encode(record(new Random(6)));
    bytes[0]++;
    seal(bytes);
    assertThatThrownBy(() -> JobRecordFormat.decode("job", bytes)).isInstanceOf(NewerVersionException.class);
  }

  @Test
  void theLargestRecordKeepsAllButItsHistory() {
    Job job = Job.named("job").queue("q").every(Duration.ofSeconds(1)).overlap(Overlap.ALLOW).shards(1_000,
        Collections.nCopies(1_000, "x".repeat(24)).toArray(String[]::new)).history(Job.MAX_HISTORY)
        .parameter(new Body(new byte[Job.MAX_PARAMETER_BYTES], "application/json", Map.of("h", "v".repeat(3_000))))
        .build();
    List<JobRecord.Waiting> waiting = new ArrayList<>();
    List<PastRun> history = new ArrayList<>();
    List<Run> active = new ArrayList<>();
    BitSet all = new BitSet();
    all.set(0, 999);
    for (int i = 0; i < JobRecord.MAX_WAITING; i++) {
      waiting.add(new JobRecord.Waiting(1_790_000_000_000L + i, i, Integer.MAX_VALUE, true));
    }
    for (int i = 0; i < JobRecord.maxActive(job); i++) {
      active.add(new Run(1_790_000_000_000L + i, 1L << 50, 1_000, 1_000, Integer.MAX_VALUE, 1_790_000_000_000L,
          Long.MAX_VALUE >> 1, Run.Stop.STOPPED, 999, all, all, 999, Long.MAX_VALUE >> 1,
          Targets.NONE, 0, List.of(), new RunListeners(RunPhase.AFTER, RunListeners.Step.INSERTED, true,
              "q".repeat(Limits.MAX_QUEUE_NAME), Set.of(RunPhase.BEFORE), PastRun.Result.SUCCEEDED),
          "\u00fc".repeat(Run.MAX_REASON)));
    }
    for (int i = 0; i < Job.MAX_HISTORY; i++) {
      history.add(new PastRun(i, Long.MAX_VALUE >> 2, Long.MAX_VALUE >> 2, Long.MAX_VALUE >> 2,
          PastRun.Result.SUCCEEDED, Job.MAX_SHARDS, Job.MAX_SHARDS, 1L << 60, 1L << 60));
    }
    JobRecord record = new JobRecord(job, 1, List.of(1L), 0, null, 0, 0, 0, waiting, active, history, JobTotals.NONE,
        requests(JobRecord.MAX_REQUESTS),
        List.of(new JobRecord.Parameter(1, new Body(new byte[JobRecord.MAX_PARAMETERS_BYTES], "a/b", Map.of()))), false,
        List.of(), List.of(), false);
    byte[] bytes = JobRecordFormat.encode(record);
    assertThat(bytes.length).isLessThanOrEqualTo(JobRecordFormat.MAX_BYTES);
    JobRecord read = JobRecordFormat.decode("job", bytes);
    assertThat(read.active()).isEqualTo(active.stream().map(Run::withoutReason).toList());
    assertThat(read.waiting()).isEqualTo(waiting);
    assertThat(read.history()).isEqualTo(history.subList(history.size() - read.history().size(), history.size()));
  }

  private static List<JobRecord.Request> requests(int count) {
    List<JobRecord.Request> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      requests.add(new JobRecord.Request(String.format("%0256d", i), i, i, i));
    }
    return requests;
  }

  private static void ensureRefused(String description, byte[] bytes) {
    assertThatThrownBy(() -> JobRecordFormat.decode("job", bytes)).as(description)
        .isInstanceOf(UnreadableException.class);
  }

  /** Replaces the checksum at the end with the checksum of the changed content. */
  private static void seal(byte[] bytes) {
    int end = bytes.length - Checksum.BYTES;
    int sum = Checksum.of(Checksum.mark("job"), bytes, 0, end);
    for (int i = 0; i < Checksum.BYTES; i++) {
      bytes[end + i] = (byte) (sum >>> (8 * (Checksum.BYTES - 1 - i)));
    }
  }

  private static JobRecord record(Random random) {
    List<JobRecord.Request> requests = requests(random.nextInt(3));
    JobRecord.Paused paused = random.nextBoolean()
        ? null
        : new JobRecord.Paused(time(random), random.nextBoolean() ? JobRecord.Paused.OPEN : time(random),
            random.nextInt(), "because", "me");
    return new JobRecord(job(random), 1 + random.nextInt(9), some(random, random::nextLong), time(random), paused,
        time(random), time(random), random.nextInt(99),
        some(random, () -> new JobRecord.Waiting(time(random), random.nextInt(9), random.nextInt(99),
            random.nextBoolean(), random.nextBoolean())),
        some(random, () -> run(random)), some(random, () -> past(random)),
        new JobTotals(random.nextLong(), 1, 2, 3, 4, 5, 6, 7, 8, random.nextInt(5), random.nextInt(2)), requests,
        some(random, () -> new JobRecord.Parameter(random.nextInt(9), Body.json("" + random.nextInt()))),
        random.nextBoolean(),
        some(random, () -> new JobRecord.Carried(random.nextInt(9), again(random))),
        some(random, () -> new JobRecord.Left("left", run(random))), random.nextBoolean());
  }

  private static Job job(Random random) {
    Job.Builder job = Job.named("job").queue("q").shards(1 + random.nextInt(5));
    switch (random.nextInt(3)) {
      case 0 -> job.every(Duration.ofSeconds(1 + random.nextInt(9)));
      case 1 -> job.after(Duration.ofSeconds(1 + random.nextInt(9)));
      default -> job.cron("0 2 * * MON-FRI").timeZone("Europe/Berlin");
    }
    Allocation allocation = any(random, Allocation.values());
    if (allocation == Allocation.OWN) {
      job.allocator("own." + random.nextInt(9));
    } else {
      job.allocation(allocation);
    }
    return job.timeout(random.nextBoolean() ? null : Duration.ofMinutes(1)).maxAttempts(random.nextInt(9))
        .labels(random.nextBoolean() ? new String[0] : new String[]{"team-a", "b" + random.nextInt(9)})
        .pauseAfterFailures(random.nextInt(9)).history(1 + random.nextInt(Job.MAX_HISTORY))
        .parameter(Body.json("{\"n\": " + random.nextInt() + "}"))
        .overlap(any(random, Overlap.values()))
        .scope(random.nextBoolean() ? Scope.ONE : Scope.PER_ZONE)
        .runListeners(switch (random.nextInt(3)) {
          case 0 -> new RunPhase[]{};
          case 1 -> new RunPhase[]{RunPhase.AFTER};
          default -> new RunPhase[]{RunPhase.BEFORE, RunPhase.AFTER};
        })
        .misfire(Misfire.all(1 + random.nextInt(9), Duration.ofMinutes(random.nextInt(9)))).build();
  }

  private static Run run(Random random) {
    BitSet ended = BitSet.valueOf(new long[]{random.nextLong()});
    BitSet failed = BitSet.valueOf(new long[]{random.nextLong(), random.nextLong()});
    boolean isPlaced = random.nextBoolean();
    return new Run(time(random), random.nextInt(99), 128, random.nextInt(128), random.nextInt(99), time(random),
        time(random), any(random, Run.Stop.values()), random.nextInt(128), ended, failed, random.nextInt(9),
        time(random), isPlaced ? TargetsTest.random(random, 1 << random.nextInt(3), 128) : Targets.NONE,
        isPlaced ? random.nextInt(9) : 0, isPlaced ? again(random) : List.of(), listeners(random),
        random.nextBoolean() ? "" : "shard " + random.nextInt(128) + ": 503");
  }

  private static RunListeners listeners(Random random) {
    return random.nextBoolean()
        ? RunListeners.NONE
        : new RunListeners(any(random, RunPhase.values()), any(random, RunListeners.Step.values()),
            random.nextBoolean(), "q" + random.nextInt(9), phases(random),
            random.nextBoolean() ? null : any(random, PastRun.Result.values()));
  }

  private static Set<RunPhase> phases(Random random) {
    // The three phases are the bits 1 to 3.
    return JobCodes.phases(random.nextInt(8) << 1);
  }

  private static List<Run.Again> again(Random random) {
    return some(random, () -> new Run.Again(random.nextInt(128), "at " + random.nextInt()));
  }

  private static PastRun past(Random random) {
    return new PastRun(time(random), time(random), 1 + random.nextInt(9), random.nextInt(9),
        any(random, PastRun.Result.values()), random.nextInt(9), random.nextInt(9),
        random.nextBoolean() ? 0 : time(random), time(random),
        random.nextInt(2), random.nextBoolean() ? Set.of() : phases(random), trace(random));
  }

  private static RunTrace trace(Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> RunTrace.NONE;
      case 1 -> new RunTrace("", 0, List.of(), Targets.NONE, false);
      default -> {
        Targets targets = random.nextBoolean() ? Targets.NONE : TargetsTest.random(random, 1, 16);
        yield new RunTrace("because", random.nextInt(3),
            some(random, () -> new RunTrace.Failed(random.nextInt(16), targets.address(random.nextInt(16)))), targets,
            true);
      }
    };
  }

  private static long time(Random random) {
    return TIMES[random.nextInt(TIMES.length)];
  }

  private static <T> T any(Random random, T[] values) {
    return List.of(values).get(random.nextInt(values.length));
  }

  private static <T> List<T> some(Random random, Supplier<T> item) {
    return Stream.generate(item).limit(random.nextInt(4)).toList();
  }
}
