package io.foliot.store.rocksdb;

import io.foliot.api.TaskState;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.TaskRecordFormat;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;

/**
 * The numbers of tasks by queue and state. Final tasks are counted for each bucket of the history. Each commit writes
 * the counts that it changes. After a crash the counts are therefore exact, and no scan of the tasks is needed. Used by
 * the writer thread alone, except {@link #published} and {@link #buckets}.
 */
final class TaskCounts {
  // Indexes of the numbers of live tasks. A parked task is counted as a delayed task too.
  private static final int LIVE_NUMBERS = 3;
  private static final int DELAYED = 0;
  private static final int PARKED = 1;
  private static final int RUNNING = 2;

  // Indexes of the numbers of final tasks.
  private static final int KEPT_NUMBERS = 4;
  private static final int FINISHED = 0;
  private static final int FAILED = 1;
  private static final int CANCELLED = 2;
  /**
   * Index of the number of final tasks with a key or a separate body. A drop of the bucket does not delete these keys
   * and bodies.
   */
  private static final int TRACES = 3;

  private record Kept(Bucket bucket, int queue) {}

  private final Queues queues;
  private final Map<Integer, long[]> live = new HashMap<>();
  private final NavigableMap<Bucket, Map<Integer, long[]>> kept = new TreeMap<>();
  private final Set<Integer> changedLive = new HashSet<>();
  private final Set<Kept> changedKept = new HashSet<>();
  private final Set<Integer> changedQueues = new HashSet<>();

  // written by the writer, read by any thread
  private final Map<String, QueueCounts> published = new ConcurrentHashMap<>();
  private volatile Bucket[] buckets = new Bucket[0];

  TaskCounts(Queues queues) {
    this.queues = queues;
  }

  /** Returns the latest committed counts, by the name of the queue. */
  Map<String, QueueCounts> published() {
    return Map.copyOf(published);
  }

  /** Returns the buckets that may hold tasks, in order. A bucket is added before any of its tasks can be read. */
  Bucket[] buckets() {
    return buckets;
  }

  /** Adds a record to the counts ({@code by} is 1), or subtracts it ({@code by} is -1). */
  void add(TaskRecord record, int queue, int by) {
    changedQueues.add(queue);
    if (record.isLive()) {
      addLive(record, queue, by);
      return;
    }
    Bucket bucket = Bucket.of(record);
    long[] numbers = kept(bucket).computeIfAbsent(queue, none -> new long[KEPT_NUMBERS]);
    numbers[switch (record.state()) {
      case FINISHED -> FINISHED;
      case FAILED -> FAILED;
      default -> CANCELLED;
    }] += by;
    if (TaskRecordFormat.leavesTraces(record)) {
      numbers[TRACES] += by;
    }
    changedKept.add(new Kept(bucket, queue));
  }

  /** Returns the number of live tasks of a queue before the current commit. */
  long live(String queue) {
    long[] numbers = live.get(queues.number(queue));
    return numbers == null ? 0 : numbers[DELAYED] + numbers[RUNNING];
  }

  private void addLive(TaskRecord record, int queue, int by) {
    long[] numbers = live.computeIfAbsent(queue, none -> new long[LIVE_NUMBERS]);
    if (record.state() == TaskState.RUNNING) {
      numbers[RUNNING] += by;
    } else {
      numbers[DELAYED] += by;
    }
    if (record.parked()) {
      numbers[PARKED] += by;
    }
    changedLive.add(queue);
  }

  private Map<Integer, long[]> kept(Bucket bucket) {
    Map<Integer, long[]> numbers = kept.get(bucket);
    if (numbers == null) {
      numbers = new HashMap<>();
      kept.put(bucket, numbers);
      buckets = kept.keySet().toArray(new Bucket[0]);
    }
    return numbers;
  }

  /** Returns whether no task of a bucket has a key or a separate body. */
  boolean leavesNoTraces(Bucket bucket) {
    return kept(bucket).values().stream().allMatch(numbers -> numbers[TRACES] == 0);
  }

  /** Removes a bucket and its counts, in the commit that drops the bucket. */
  void drop(Bucket bucket, Batch batch) {
    Map<Integer, long[]> numbers = kept.remove(bucket);
    if (numbers == null) {
      return;
    }
    buckets = kept.keySet().toArray(new Bucket[0]);
    Bytes key = new Bytes(16);
    numbers.forEach((queue, none) -> {
      batch.delete(Family.META, Layout.bucket(key.clear().u8(Layout.META_KEPT), bucket).u32(queue));
      changedKept.remove(new Kept(bucket, queue));
      changedQueues.add(queue);
    });
  }

  /** Returns the counts by a description such as "live tasks of orders". Omits counts that are all zero. */
  Map<String, List<Long>> all() {
    Map<String, List<Long>> all = new HashMap<>();
    live.forEach((queue, numbers) -> add(all, "live tasks of " + queues.name(queue), numbers));
    kept.forEach((bucket, byQueue) -> byQueue.forEach((queue, numbers) -> add(all, "final tasks of "
        + queues.name(queue) + " in " + bucket, numbers)));
    return all;
  }

  private static void add(Map<String, List<Long>> all, String counted, long[] numbers) {
    if (LongStream.of(numbers).anyMatch(number -> number != 0)) {
      all.put(counted, LongStream.of(numbers).boxed().toList());
    }
  }

  /** Writes the counts that have changed. */
  void write(Batch batch) {
    Bytes key = new Bytes(16);
    Bytes value = new Bytes(64);
    for (int queue : changedLive) {
      numbers(value.clear(), live.getOrDefault(queue, new long[LIVE_NUMBERS]));
      batch.put(Family.META, key.clear().u8(Layout.META_LIVE).u32(queue), value);
    }
    for (Kept changed : changedKept) {
      numbers(value.clear(), kept(changed.bucket()).getOrDefault(changed.queue(), new long[KEPT_NUMBERS]));
      batch.put(Family.META, Layout.bucket(key.clear().u8(Layout.META_KEPT), changed.bucket()).u32(changed.queue()),
          value);
    }
    changedLive.clear();
    changedKept.clear();
  }

  private static void numbers(Bytes out, long[] numbers) {
    for (long number : numbers) {
      assert number >= 0 : "no count is negative";
      out.near(number);
    }
  }

  /** Publishes the committed counts. */
  void publish() {
    for (int queue : changedQueues) {
      long[] alive = live.getOrDefault(queue, new long[LIVE_NUMBERS]);
      long[] ended = new long[KEPT_NUMBERS];
      for (Map<Integer, long[]> bucket : kept.values()) {
        long[] numbers = bucket.get(queue);
        for (int i = 0; numbers != null && i < ended.length; i++) {
          ended[i] += numbers[i];
        }
      }
      published.put(queues.name(queue), new QueueCounts(alive[DELAYED], alive[PARKED], alive[RUNNING],
          ended[FINISHED], ended[FAILED], ended[CANCELLED]));
    }
    changedQueues.clear();
  }

  /** Restores the counts in an entry of the family META. The first byte of the key shows the kind of counts. */
  void read(byte[] key, byte[] value) {
    BytesReader in = new BytesReader(value);
    if (key[0] == Layout.META_LIVE) {
      int queue = BytesReader.u32(key, 1);
      live.put(queue, new long[]{in.near(), in.near(), in.near()});
      changedQueues.add(queue);
    } else {
      int queue = BytesReader.u32(key, 6);
      kept(Layout.bucket(key, 1)).put(queue, new long[]{in.near(), in.near(), in.near(), in.near()});
      changedQueues.add(queue);
    }
  }
}
