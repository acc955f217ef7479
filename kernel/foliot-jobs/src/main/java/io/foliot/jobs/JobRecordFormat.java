package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.Field;
import io.foliot.api.Job;
import io.foliot.api.JobFields;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.api.Values;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.Frame;
import io.foliot.core.store.format.RecordParts;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.schedule.ScheduleSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a {@link JobRecord}, in a {@link Frame} that belongs to the job's name. Most times are stored as
 * distances from the cursor or from another time, because small numbers take few bytes. A record of more than {@value
 * #MAX_BYTES} bytes loses its oldest history until it fits, then the reasons of its active runs.
 */
final class JobRecordFormat {
  /**
   * Limit of the size of a record, in bytes. A larger record loses history, because each pass reads and writes the
   * record.
   */
  static final int MAX_BYTES = 64 << 10;

  private static final String SUBJECT = "the record of a job";
  /** Flags of a record, one for each of its rare parts. */
  private static final int PAUSED = 1;
  private static final int WITHOUT_TARGETS = 2;
  private static final int ENDED = 4;
  private static final int CARRIED = 8;
  private static final int LEFT = 16;
  private static final int DELETED = 32;
  /** Flag in the byte of a code: rare fields follow. */
  private static final int MORE = 0x40;
  /** Flag in the byte of a code: fields of listeners follow. */
  private static final int LISTENERS = 0x20;
  /** Flag in the byte of a code: the reason or the trace of failures follows. */
  private static final int TRACED = 0x80;
  /** Flag in the byte of the code of a job's overlap rule: settings without a place of their own follow. */
  private static final int FURTHER = 0x80;
  /** The settings that have a place of their own. Each other one that is set is written as its name and its text. */
  static final Set<Field<?>> PLACED = Set.of(JobFields.QUEUE, JobFields.SCHEDULE, JobFields.SHARDS,
      JobFields.SHARD_PARAMETERS, JobFields.OVERLAP, JobFields.MISFIRE, JobFields.TIMEOUT, JobFields.PARAMETER,
      JobFields.MAX_ATTEMPTS, JobFields.PAUSE_AFTER_FAILURES, JobFields.HISTORY, JobFields.SCOPE, JobFields.ALLOCATION,
      JobFields.ALLOCATOR, JobFields.ZONES, JobFields.RUN_LISTENERS);
  /** Flag in the byte of a run's listeners: there is a listener after the shards. */
  private static final int HAS_AFTER = 0x10;
  /** Flags of a waiting run. */
  private static final int WAITS = 1;
  private static final int LACKS_ROOM = 2;
  /** Position of the step's code in the byte of a run's listeners. */
  private static final int STEP_SHIFT = 2;
  /** Bits of the phase's code in the byte of a run's listeners. */
  private static final int PHASE_MASK = 0x03;

  private JobRecordFormat() {}

  /** Returns the bytes of a record, with as much of its history as fits. */
  static byte[] encode(JobRecord record) {
    byte[] bytes = encode(record, 0);
    for (int dropped = 1; bytes.length > MAX_BYTES && dropped <= record.history().size(); dropped++) {
      bytes = encode(record, dropped);
    }
    return bytes.length > MAX_BYTES ? encode(record.withoutReasons(), record.history().size()) : bytes;
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @throws UnreadableException if the bytes cannot be read; the class of the exception gives the reason
   */
  static JobRecord decode(String name, byte[] bytes) {
    return Frame.read(SUBJECT, name, Checksum.mark(name), bytes, JobRecordFormat::read);
  }

  /** Returns the record in the payload of a job's task, or null if the payload cannot be read. */
  static @Nullable JobRecord decodeIfReadable(TaskRecord task) {
    try {
      return decode(String.valueOf(task.key()), task.body().payload());
    } catch (UnreadableException e) {
      return null;
    }
  }

  /** Returns whether a job was deleted although its record could not be read: its task has no payload. */
  static boolean isRemoved(TaskRecord task) {
    return task.body().payload().length == 0;
  }

  /** Returns the hash that identifies a definition in {@link JobRecord#declared}. */
  static long hash(Job job) {
    Bytes out = new Bytes(256);
    writeJob(job, out);
    return hash(out);
  }

  /** Returns the digest of a request for a run with another payload than that of the job's parameter; null for none. */
  static long digest(@Nullable Body parameter) {
    Bytes out = new Bytes(256);
    if (parameter != null) {
      RecordParts.writeBody(parameter, out);
    }
    return hash(out);
  }

  /** Returns the digest of a request for the runs of a range of scheduled times, in milliseconds since 1970. */
  static long digest(long from, long to) {
    return hash(new Bytes(2 * Long.BYTES).u64(from).u64(to));
  }

  private static long hash(Bytes out) {
    CRC32C sum = new CRC32C();
    sum.update(out.array(), 0, out.length());
    long low = sum.getValue();
    sum.update(out.length());
    return sum.getValue() << 32 | low;
  }

  private static byte[] encode(JobRecord record, int dropped) {
    Bytes out = new Bytes(1_024);
    int start = Frame.begin(out);
    long base = record.cursor();
    out.near(base);
    writeJob(record.job(), out);
    out.near(record.version()).near(record.created() - base);
    list(out, record.declared(), out::u64);
    JobRecord.Paused paused = record.paused();
    out.u8((paused == null ? 0 : PAUSED) | (record.totals().noTargets() == 0 ? 0 : WITHOUT_TARGETS)
        | (record.isEnded() ? ENDED : 0) | (record.carried().isEmpty() ? 0 : CARRIED)
        | (record.left().isEmpty() ? 0 : LEFT) | (record.isDeleted() ? DELETED : 0));
    if (paused != null) {
      out.near(paused.since() - base).near(paused.until()).near(paused.origins()).text(paused.reason())
          .text(paused.actor());
    }
    out.near(record.nextAfter()).near(record.origins());
    list(out, record.waiting(), waiting -> out.near(waiting.time() - base).near(waiting.origin())
        .varint(waiting.missed()).u8((waiting.waits() ? WAITS : 0) | (waiting.lacksRoom() ? LACKS_ROOM : 0)));
    list(out, record.active(), run -> writeRun(run, base, out));
    list(out, record.history().subList(dropped, record.history().size()), past -> writePast(past, base, out));
    JobTotals totals = record.totals();
    out.near(totals.fired()).near(totals.requested()).near(totals.succeeded()).near(totals.failed())
        .near(totals.unknown()).near(totals.stopped()).near(totals.skipped()).near(totals.missed())
        .near(totals.paused())
        .near(totals.failuresInRow());
    list(out, record.requests(), request -> out.text(request.key()).near(request.time() - base)
        .near(request.origin()).u64(request.digest()));
    list(out, record.parameters(), parameter -> {
      out.near(parameter.origin());
      RecordParts.writeBody(parameter.body(), out);
    });
    if (totals.noTargets() != 0) {
      out.near(totals.noTargets());
    }
    if (!record.carried().isEmpty()) {
      list(out, record.carried(), carried -> {
        out.near(carried.origin());
        writeAgain(carried.shards(), out);
      });
    }
    if (!record.left().isEmpty()) {
      list(out, record.left(), left -> {
        out.text(left.queue());
        writeRun(left.run(), base, out);
      });
    }
    return Frame.end(out, start, Checksum.mark(record.job().name())).toArray();
  }

  private static JobRecord read(BytesReader in) {
    long base = in.near();
    Job job = readJob(in);
    long version = in.near();
    long created = base + in.near();
    List<Long> declared = list(in, in::u64);
    int flags = in.u8();
    JobRecord.Paused paused = (flags & PAUSED) == 0
        ? null
        : new JobRecord.Paused(base + in.near(), in.near(), in.near(), in.text(), in.text());
    long nextAfter = in.near();
    long origins = in.near();
    List<JobRecord.Waiting> waiting = list(in,
        () -> readWaiting(base, in));
    List<Run> active = list(in, () -> readRun(base, in));
    List<PastRun> history = list(in, () -> readPast(base, in));
    JobTotals totals = new JobTotals(in.near(), in.near(), in.near(), in.near(), in.near(), in.near(), in.near(),
        in.near(), in.near(), in.near(), 0);
    List<JobRecord.Request> requests = list(in,
        () -> new JobRecord.Request(in.text(), base + in.near(), in.near(), in.u64()));
    List<JobRecord.Parameter> parameters = list(in,
        () -> new JobRecord.Parameter(in.near(), RecordParts.readBody(in)));
    totals = totals.noTargets((flags & WITHOUT_TARGETS) == 0 ? 0 : in.near());
    List<JobRecord.Carried> carried = (flags & CARRIED) == 0
        ? List.of()
        : list(in, () -> new JobRecord.Carried(in.near(), readAgain(in)));
    List<JobRecord.Left> left = (flags & LEFT) == 0
        ? List.of()
        : list(in, () -> new JobRecord.Left(in.text(), readRun(base, in)));
    return new JobRecord(job, version, declared, created, paused, base, nextAfter, origins, waiting, active, history,
        totals, requests, parameters, (flags & ENDED) != 0, carried, left, (flags & DELETED) != 0);
  }

  private static JobRecord.Waiting readWaiting(long base, BytesReader in) {
    long time = base + in.near();
    long origin = in.near();
    int missed = in.varint();
    int flags = in.u8();
    return new JobRecord.Waiting(time, origin, missed, (flags & WAITS) != 0, (flags & LACKS_ROOM) != 0);
  }

  private static void writeJob(Job job, Bytes out) {
    out.text(job.name()).text(job.queue());
    Map<String, String> schedule = job.schedule().values();
    out.varint(schedule.size());
    schedule.forEach((setting, value) -> out.text(setting).text(value));
    out.varint(job.shards());
    list(out, job.shardParameters(), out::text);
    Duration timeout = job.timeout();
    boolean isPlaced = isPlaced(job);
    boolean hasListeners = !job.runListeners().isEmpty();
    List<Field<?>> further = JobFields.TABLE.all().stream()
        .filter(field -> !PLACED.contains(field) && job.values().isSet(field)).toList();
    out.u8(JobCodes.code(job.overlap()) | (isPlaced ? MORE : 0) | (hasListeners ? LISTENERS : 0)
        | (further.isEmpty() ? 0 : FURTHER))
        .u8(JobCodes.code(job.misfire().policy()))
        .near(job.misfire().window().toMillis())
        .varint(job.misfire().max()).near(timeout == null ? 0 : timeout.toMillis()).varint(job.maxAttempts())
        .varint(job.pauseAfterFailures()).varint(job.history());
    RecordParts.writeBody(job.parameter(), out);
    if (isPlaced) {
      out.u8(JobCodes.code(job.scope())).u8(JobCodes.code(job.allocation()));
      list(out, job.zones(), out::text);
      if (job.allocation() == Allocation.OWN) {
        out.text(job.allocator());
      }
    }
    if (hasListeners) {
      out.u8(JobCodes.bits(job.runListeners()));
    }
    if (!further.isEmpty()) {
      list(out, further, field -> out.text(field.name()).text(job.values().text(field)));
    }
  }

  private static Values readFurther(BytesReader in, Values values) {
    Values all = values;
    for (int left = in.varint(); left > 0; left--) {
      String name = in.text();
      Field<?> field = JobFields.TABLE.named(name);
      if (field == null) {
        throw new IllegalArgumentException("a job has a setting of a newer version: setting=" + name);
      }
      all = all.withText(field, in.text());
    }
    return all;
  }

  /** Returns whether a job has settings for where it runs. */
  private static boolean isPlaced(Job job) {
    return job.scope() != Scope.ONE || job.allocation() != Allocation.AVERAGE;
  }

  private static Job readJob(BytesReader in) {
    String name = in.text();
    String queue = in.text();
    Map<String, String> schedule = new LinkedHashMap<>();
    for (int left = in.varint(); left > 0; left--) {
      schedule.put(in.text(), in.text());
    }
    int shards = in.varint();
    List<String> parameters = list(in, in::text);
    int flags = in.u8();
    Overlap overlap = constant(Overlap.values(), JobCodes::code, flags & ~(MORE | LISTENERS | FURTHER));
    Misfire misfire = new Misfire(constant(Misfire.Policy.values(), JobCodes::code, in.u8()),
        Duration.ofMillis(in.near()), in.varint());
    long timeout = in.near();
    int maxAttempts = in.varint();
    int pauseAfterFailures = in.varint();
    int history = in.varint();
    Body parameter = RecordParts.readBody(in);
    boolean isPlaced = (flags & MORE) != 0;
    Scope scope = isPlaced ? constant(Scope.values(), JobCodes::code, in.u8()) : Scope.ONE;
    Allocation allocation = isPlaced ? constant(Allocation.values(), JobCodes::code, in.u8()) : Allocation.AVERAGE;
    List<String> zones = isPlaced ? list(in, in::text) : List.of();
    String allocator = allocation == Allocation.OWN ? in.text() : "";
    Values values = Values.of(JobFields.TABLE).with(JobFields.QUEUE, queue)
        .with(JobFields.SCHEDULE, ScheduleSettings.of(schedule)).with(JobFields.SHARDS, shards)
        .with(JobFields.SHARD_PARAMETERS, parameters).with(JobFields.OVERLAP, overlap).with(JobFields.MISFIRE, misfire)
        .with(JobFields.TIMEOUT, timeout == 0 ? null : Duration.ofMillis(timeout))
        .with(JobFields.PARAMETER, parameter)
        .with(JobFields.MAX_ATTEMPTS, maxAttempts == 0 ? null : Integer.valueOf(maxAttempts))
        .with(JobFields.PAUSE_AFTER_FAILURES, pauseAfterFailures).with(JobFields.HISTORY, history)
        .with(JobFields.SCOPE, scope).with(JobFields.ALLOCATION, allocation).with(JobFields.ALLOCATOR, allocator)
        .with(JobFields.ZONES, zones).with(JobFields.RUN_LISTENERS,
            (flags & LISTENERS) == 0 ? Set.of() : JobCodes.phases(in.u8()));
    return Job.of(name, (flags & FURTHER) == 0 ? values : readFurther(in, values));
  }

  private static void writeRun(Run run, long base, Bytes out) {
    boolean isPlaced = !run.targets().isNone() || !run.again().isEmpty();
    out.near(run.time() - base).near(run.origin()).varint(run.shards()).varint(run.inserted()).varint(run.missed())
        .near(run.begun() - base).near(run.deadline()).u8(run.stop().code() | (isPlaced ? MORE : 0)
            | (run.listeners().isNone() ? 0 : LISTENERS) | (run.reason().isEmpty() ? 0 : TRACED))
        .varint(run.readFrom());
    bits(out, run.ended());
    bits(out, run.failed());
    out.varint(run.unknown()).near(run.lastEnd());
    if (isPlaced) {
      run.targets().write(out);
      out.varint(run.gone());
      writeAgain(run.again(), out);
    }
    if (!run.listeners().isNone()) {
      writeListeners(run.listeners(), out);
    }
    if (!run.reason().isEmpty()) {
      out.text(run.reason());
    }
  }

  private static void writeListeners(RunListeners listeners, Bytes out) {
    PastRun.Result result = listeners.result();
    out.u8(JobCodes.code(listeners.phase()) | (listeners.step().code() << STEP_SHIFT)
        | (listeners.hasAfter() ? HAS_AFTER : 0))
        .u8(JobCodes.bits(listeners.failed())).u8(result == null ? 0 : result.code()).text(listeners.queue());
  }

  private static RunListeners readListeners(BytesReader in) {
    int flags = in.u8();
    Set<RunPhase> failed = JobCodes.phases(in.u8());
    int result = in.u8();
    return new RunListeners(constant(RunPhase.values(), JobCodes::code, flags & PHASE_MASK),
        constant(RunListeners.Step.values(), RunListeners.Step::code, (flags & ~HAS_AFTER) >> STEP_SHIFT),
        (flags & HAS_AFTER) != 0, in.text(), failed,
        result == 0 ? null : constant(PastRun.Result.values(), PastRun.Result::code, result));
  }

  private static Run readRun(long base, BytesReader in) {
    long time = base + in.near();
    long origin = in.near();
    int shards = in.varint();
    int inserted = in.varint();
    int missed = in.varint();
    long begun = base + in.near();
    long deadline = in.near();
    int flags = in.u8();
    Run.Stop stop = constant(Run.Stop.values(), Run.Stop::code, flags & ~(MORE | LISTENERS | TRACED));
    int readFrom = in.varint();
    BitSet ended = bits(in);
    BitSet failed = bits(in);
    int unknown = in.varint();
    long lastEnd = in.near();
    boolean isPlaced = (flags & MORE) != 0;
    Targets targets = isPlaced ? Targets.read(in) : Targets.NONE;
    if (!targets.isNone() && targets.shards() != shards) {
      throw new IllegalArgumentException(
          "each shard of a run has a target: shards=" + shards + ", targets=" + targets.shards());
    }
    int gone = isPlaced ? in.varint() : 0;
    List<Run.Again> again = isPlaced ? readAgain(in) : List.of();
    return new Run(time, origin, shards, inserted, missed, begun, deadline, stop, readFrom, ended, failed, unknown,
        lastEnd, targets, gone, again, (flags & LISTENERS) == 0 ? RunListeners.NONE : readListeners(in),
        (flags & TRACED) == 0 ? "" : in.text());
  }

  private static void writeAgain(List<Run.Again> shards, Bytes out) {
    list(out, shards, again -> out.varint(again.shard()).text(again.checkpoint()));
  }

  private static List<Run.Again> readAgain(BytesReader in) {
    return list(in, () -> new Run.Again(in.varint(), in.text()));
  }

  private static void writePast(PastRun past, long base, Bytes out) {
    out.near(past.from() - base).near(past.to() - past.from()).near(past.count()).near(past.origin())
        .u8(past.result().code() | (past.gone() == 0 ? 0 : MORE)
            | (past.failedListeners().isEmpty() ? 0 : LISTENERS) | (past.trace().equals(RunTrace.NONE) ? 0 : TRACED))
        .varint(past.shards()).varint(past.failed())
        .near(past.begun() == 0 ? 0 : nonZero(past.begun() - past.from())).near(past.ended() - past.to());
    if (past.gone() != 0) {
      out.varint(past.gone());
    }
    if (!past.failedListeners().isEmpty()) {
      out.u8(JobCodes.bits(past.failedListeners()));
    }
    if (!past.trace().equals(RunTrace.NONE)) {
      past.trace().write(out);
    }
  }

  /** Encodes a distance as a number that is never 0, because 0 marks a run that has not begun. */
  private static long nonZero(long distance) {
    return distance < 0 ? distance : distance + 1;
  }

  private static PastRun readPast(long base, BytesReader in) {
    long from = base + in.near();
    long to = from + in.near();
    long count = in.near();
    long origin = in.near();
    int flags = in.u8();
    PastRun.Result result = constant(PastRun.Result.values(), PastRun.Result::code,
        flags & ~(MORE | LISTENERS | TRACED));
    int shards = in.varint();
    int failed = in.varint();
    long begun = in.near();
    long distance = begun > 0 ? begun - 1 : begun;
    return new PastRun(from, to, count, origin, result, shards, failed, begun == 0 ? 0 : from + distance,
        to + in.near(), (flags & MORE) == 0 ? 0 : in.varint(),
        (flags & LISTENERS) == 0 ? Set.of() : JobCodes.phases(in.u8()),
        (flags & TRACED) == 0 ? RunTrace.NONE : RunTrace.read(in));
  }

  private static void bits(Bytes out, BitSet bits) {
    byte[] bytes = bits.toByteArray();
    out.varint(bytes.length).bytes(bytes);
  }

  private static BitSet bits(BytesReader in) {
    return BitSet.valueOf(in.bytes(in.varint()));
  }

  private static <T> void list(Bytes out, List<T> items, Consumer<T> item) {
    out.varint(items.size());
    items.forEach(item);
  }

  private static <T> List<T> list(BytesReader in, Supplier<T> item) {
    List<T> items = new ArrayList<>();
    for (int left = in.varint(); left > 0; left--) {
      items.add(item.get());
    }
    return items;
  }

  private static <E> E constant(E[] values, ToIntFunction<E> code, int wanted) {
    @Nullable
    E found = null;
    for (E value : values) {
      if (code.applyAsInt(value) == wanted) {
        found = value;
      }
    }
    if (found == null) {
      throw new IllegalArgumentException("no such constant: code=" + wanted);
    }
    return found;
  }
}
