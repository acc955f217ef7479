package io.foliot.store.redis;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.RedisServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Measures the store on a separate server: the latency of single submits, and rates. The rates are those of creations
 * without keys, submits and touches of live keys, claims and settles, and idle polls. For comparison the benchmark
 * measures pipelined ZADD on the same server. The benchmark checks with the store's counts that the work was done.
 *
 * <pre>
 * mvn -q -pl :foliot-store-redis -am -Pbench-redis process-test-classes -Dbench.args="200000 2000 64"
 * </pre>
 *
 * Arguments: number of tasks per measurement, of items per call, and of slots.
 */
public final class RedisStoreBenchmark {
  private static final String QUEUE = "bench";
  private static final int CALLS_UNDER_WAY = 4;
  private static final int PAYLOAD_BYTES = 100;
  private static final long HOUR = 3_600_000;
  /** Number of submits for the measurement of the latency. */
  private static final int ONE_BY_ONE = 2_000;
  private static final int ZADDS_AT_ONCE = 16;
  private static final int ZADD_CONNECTIONS = 50;
  private static final int ZADD_BLOCKS = 1_000;

  private final SplittableRandom random = new SplittableRandom(42);
  private final RedisServer server;
  private final int tasks;
  private final int batch;
  private double lastServerCpu;

  private RedisStoreBenchmark(RedisServer server, int tasks, int batch) {
    this.server = server;
    this.tasks = tasks;
    this.batch = batch;
  }

  /** Runs the benchmark with the arguments that the class comment describes. */
  public static void main(String[] arguments) throws IOException {
    try (RedisServer server = RedisServer.start()) {
      int tasks = Integer.parseInt(arguments[0]);
      RedisStoreBenchmark benchmark = new RedisStoreBenchmark(server, tasks, Integer.parseInt(arguments[1]));
      benchmark.run(Integer.parseInt(arguments[2]));
    }
  }

  private void run(int slots) throws IOException {
    RedisOptions options = RedisOptions.builder(server.uri()).slots(slots).build();
    List<TaskId> due = new ArrayList<>();
    try (RedisStore store = RedisStore.open(options)) {
      System.out.println(store.durability() + ", slots=" + slots + ", tasks=" + tasks + ", batch=" + batch);
      create(store, "warm-up", tasks, false, HOUR, null);
      create(store, "warm-up", tasks, true, HOUR, null);
      touch(store, tasks);
      for (int i = 0; i < 2; i++) {
        zadd(5 * tasks);
        touch(store, tasks);
      }
      latency(store);
      create(store, "create without key", tasks, false, HOUR, null);
      create(store, "reset by submit", tasks, true, HOUR, null);
      touch(store, tasks);
      create(store, "create, due", tasks, false, 0, due);
      claimAndSettle(store, due);
      zadd(5 * tasks);
      poll(store);
      QueueCounts counts = Objects.requireNonNull(get(store.counts()).get(QUEUE));
      if (counts.delayed() != 3L * tasks + ONE_BY_ONE || counts.running() != 0 || counts.finished() != tasks) {
        throw new AssertionError("the work was not done: counts=" + counts);
      }
      System.out.println(server.info("memory").lines().filter(line -> line.startsWith("used_memory_human")).toList());
    }
  }

  private static double seconds(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }

  private void latency(RedisStore store) {
    long[] nanos = new long[ONE_BY_ONE];
    for (int i = 0; i < ONE_BY_ONE; i++) {
      long start = System.nanoTime();
      get(store.submit(List.of(draft(null, HOUR))));
      nanos[i] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    System.out.printf("%-22s p50 %d us, p99 %d us%n", "submit, one at a time", nanos[ONE_BY_ONE / 2] / 1_000,
        nanos[ONE_BY_ONE * 99 / 100] / 1_000);
  }

  private Draft draft(@Nullable String key, long delayMillis) {
    int hash = key == null ? random.nextInt() : SlotHash.of(QUEUE, key);
    return new Draft(TaskId.of(System.currentTimeMillis(), hash, random.nextLong()), QUEUE, key,
        Due.after(delayMillis + (delayMillis == 0 ? 0 : random.nextLong(HOUR))),
        new Body(new byte[PAYLOAD_BYTES], "application/octet-stream", Map.of()), 0, OnConflict.RESET, null);
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  /** Makes calls of {@link #batch} items, at most {@link #CALLS_UNDER_WAY} at a time. Returns the items per second. */
  private <R> double pipelined(int total, IntFunction<CompletionStage<R>> call, Consumer<R> answer) {
    Deque<CompletionStage<R>> underWay = new ArrayDeque<>();
    long start = System.nanoTime();
    for (int from = 0; from < total; from += batch) {
      if (underWay.size() == CALLS_UNDER_WAY) {
        answer.accept(get(underWay.remove()));
      }
      underWay.add(call.apply(from));
    }
    underWay.forEach(stage -> answer.accept(get(stage)));
    return total / seconds(start);
  }

  private void create(RedisStore store, String what, int total, boolean keyed, long delayMillis,
      @Nullable List<TaskId> ids) {
    double rate = pipelined(total, from -> {
      List<Draft> drafts = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        drafts.add(draft(keyed ? "order-" + i : null, delayMillis));
      }
      return store.submit(drafts);
    }, results -> {
      for (SubmitResult result : results) {
        if (ids != null) {
          ids.add(result.id());
        }
      }
    });
    print(what, total, rate);
  }

  private double serverCpu() {
    return server.info("cpu").lines()
        .filter(line -> line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1).strip())).sum();
  }

  private void print(String what, int total, double rate) {
    double cpu = serverCpu();
    System.out.printf("%-22s %,9d items, %,9.0f a second; the server's CPU %.1f us each%n", what, total, rate,
        (cpu - lastServerCpu) * 1e6 / total);
    lastServerCpu = cpu;
  }

  private void touch(RedisStore store, int total) {
    double rate = pipelined(total, from -> {
      List<Touch> touches = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        touches.add(new Touch(new TaskRef.ByKey(QUEUE, "order-" + i), Due.after(3 * HOUR)));
      }
      return store.touch(touches);
    }, results -> results.forEach(result -> {
      if (result.kind() != TouchResult.Kind.RESET) {
        throw new AssertionError(result);
      }
    }));
    print("touch live keys", total, rate);
  }

  private void claimAndSettle(RedisStore store, List<TaskId> ids) {
    List<TaskRecord> won = new ArrayList<>();
    double claims = pipelined(ids.size(), from -> {
      List<Claim> items = new ArrayList<>(batch);
      ids.subList(from, Math.min(ids.size(), from + batch)).forEach(id -> items.add(new Claim(id, HOUR)));
      return store.claim(items);
    }, results -> {
      for (ClaimResult result : results.results()) {
        won.add(((ClaimResult.Won) result).task());
      }
    });
    print("claim", ids.size(), claims);
    double settles = pipelined(won.size(), from -> {
      List<AttemptEnd> items = new ArrayList<>(batch);
      for (TaskRecord task : won.subList(from, Math.min(won.size(), from + batch))) {
        items.add(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
            new Outcome.Finished(), task.claimedAt(), "200"));
      }
      return store.settle(items);
    }, results -> results.forEach(result -> {
      if (result.kind() != SettleResult.Kind.SETTLED) {
        throw new AssertionError(result);
      }
    }));
    print("settle", won.size(), settles);
    System.out.printf("%-22s %,9.0f a second%n", "claim and settle", 1 / (1 / claims + 1 / settles));
  }

  private void poll(RedisStore store) {
    List<DueScan> scans = new ArrayList<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      scans.add(new DueScan(slot, Long.MIN_VALUE, null, System.currentTimeMillis(), 100));
    }
    int found = 0;
    long start = System.nanoTime();
    for (int i = 0; i < 500; i++) {
      found += get(store.due(scans)).stream().map(DueSlice::entries).mapToInt(List::size).sum();
    }
    print("idle poll of all slots", 500, 500 / seconds(start));
    if (found != 0) {
      throw new AssertionError("something is due: found=" + found);
    }
  }

  /**
   * Sends commands as {@code redis-benchmark -c 50 -P 16 -r N ZADD key 0 element} does: each connection sends sixteen
   * commands, and then waits for all of their replies.
   */
  private void zadd(int total) throws IOException {
    List<ByteBuffer> blocks = new ArrayList<>();
    for (int b = 0; b < ZADD_BLOCKS; b++) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < ZADDS_AT_ONCE; i++) {
        text.append("*4\r\n$4\r\nZADD\r\n$5\r\nbench\r\n$1\r\n0\r\n$20\r\nelement:")
            .append(String.format("%012d", random.nextInt(tasks))).append("\r\n");
      }
      blocks.add(ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII)));
    }
    ByteBuffer replies = ByteBuffer.allocate(1 << 12);
    int sent = 0;
    int answered = 0;
    long start = System.nanoTime();
    try (Selector selector = Selector.open()) {
      for (int i = 0; i < ZADD_CONNECTIONS; i++) {
        SocketChannel channel = SocketChannel
            .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ, new int[1]);
        sent += send(channel, blocks.get(i % ZADD_BLOCKS));
      }
      while (answered < total) {
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
          SocketChannel channel = (SocketChannel) key.channel();
          int[] lines = (int[]) key.attachment();
          channel.read(replies.clear());
          for (int i = 0; i < replies.position(); i++) {
            lines[0] += replies.get(i) == '\n' ? 1 : 0;
          }
          if (lines[0] == ZADDS_AT_ONCE) {
            lines[0] = 0;
            answered += ZADDS_AT_ONCE;
            sent += send(channel, blocks.get(sent / ZADDS_AT_ONCE % ZADD_BLOCKS));
          }
        }
        selector.selectedKeys().clear();
      }
      print("ZADD, 50 x 16", answered, answered / seconds(start));
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
    }
  }

  /** Sends a block, which is smaller than the buffer of a socket. Returns the number of its commands. */
  private static int send(SocketChannel channel, ByteBuffer block) throws IOException {
    channel.write(block.rewind());
    if (block.hasRemaining()) {
      throw new AssertionError("a block was not sent as a whole: leftBytes=" + block.remaining());
    }
    return ZADDS_AT_ONCE;
  }
}
