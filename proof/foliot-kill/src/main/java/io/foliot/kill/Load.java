package io.foliot.kill;

import io.foliot.api.OnConflict;
import io.foliot.client.KeyResult;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.SubmittedTask;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Clients that call random operations, drawn from a seed, until they are stopped. */
final class Load {
  private static final int CLIENTS = 4;
  private static final long STOP_SECONDS = 60;

  /** Number of keys that are reset often. */
  private static final int HOT_KEYS = 16;

  /** Number of all keys. The tasks of most keys become due before their next reset. */
  private static final int KEYS = 400;
  private static final int MAX_DELAY_MILLIS = 3_000;
  private static final int MAX_BATCH = 20;
  private static final int KNOWN_TASKS = 64;
  private static final List<OnConflict> CONFLICTS = List.of(OnConflict.values());

  /**
   * A server that clients call.
   *
   * @param isUp whether the server is up; clients pause while this is false
   */
  record Endpoint(RecordedClient client, BooleanSupplier isUp) {}

  private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(CLIENTS);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /**
   * Starts the clients.
   *
   * @param endpoints the servers, to which the clients are assigned in turn
   * @param stepMillis the pause of a client after each operation. It bounds the load, because these runs test the
   *        reaction to faults, not speed
   */
  Load(List<Endpoint> endpoints, long seed, long stepMillis) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < CLIENTS; i++) {
      Steps steps = new Steps("c" + i, endpoints.get(i % endpoints.size()), random.split());
      var unused = threads.scheduleWithFixedDelay(() -> run(steps), 0, stepMillis, TimeUnit.MILLISECONDS);
    }
  }

  private void run(Steps steps) {
    try {
      if (steps.isUp.getAsBoolean()) {
        steps.next();
      }
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      throw e;
    }
  }

  /** Stops the clients, and waits for the operations under way. */
  void stop() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("the clients did not stop in time: seconds=" + STOP_SECONDS);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new AssertionError("a client has failed", thrown);
    }
  }

  /** The operations of one client, one after the other. */
  private static final class Steps {
    private record Repeatable(String queue, NewTask task) {}

    private final String name;
    private final RecordedClient client;
    private final BooleanSupplier isUp;
    private final SplittableRandom random;
    private final List<String> known = new ArrayList<>();
    private final Deque<Repeatable> repeatable = new ArrayDeque<>();
    private int idempotencyKeys;

    Steps(String name, Endpoint endpoint, SplittableRandom random) {
      this.name = name;
      client = endpoint.client;
      isUp = endpoint.isUp;
      this.random = random;
    }

    void next() {
      String queue = random.nextInt(6) == 0 ? Rig.NARROW : Rig.WIDE;
      int die = random.nextInt(100);
      if (die < 24) {
        remember(client.submit(queue, task(), false));
      } else if (die < 34) {
        submitIdempotent(queue);
      } else if (die < 42) {
        repeat();
      } else if (die < 47) {
        batch(queue);
      } else if (die < 66) {
        put(queue);
      } else if (die < 71) {
        client.submit(queue,
            task().toBuilder().key(key()).onConflict(CONFLICTS.get(random.nextInt(CONFLICTS.size()))).build(),
            false);
      } else if (die < 79) {
        client.touch(queue, keys(), delay());
      } else if (die < 84) {
        client.cancel(queue, key());
      } else if (die < 90) {
        withKnown(client::cancel);
      } else if (die < 93) {
        withKnown(client::runNow);
      } else if (die < 97) {
        withKnown(client::read);
      } else {
        client.read(queue, key());
      }
    }

    private void put(String queue) {
      KeyResult unused = client.put(queue, key(), task());
    }

    private void submitIdempotent(String queue) {
      NewTask task = task().toBuilder().idempotencyKey(name + "-" + idempotencyKeys++).build();
      Repeatable request = new Repeatable(queue, random.nextInt(3) == 0 ? task.toBuilder().key(key()).build() : task);
      remember(client.submit(queue, request.task, false));
      repeatable.add(request);
    }

    /** Repeats an earlier submit, even one whose answer never arrived. */
    private void repeat() {
      Repeatable request = random.nextBoolean() ? repeatable.peekFirst() : repeatable.pollFirst();
      if (request != null) {
        client.submit(request.queue, request.task, true);
      }
    }

    private void batch(String queue) {
      List<NewTask> tasks = new ArrayList<>();
      for (int left = random.nextInt(1, MAX_BATCH); left > 0; left--) {
        NewTask task = task();
        tasks.add(
            random.nextInt(4) == 0 ? task.toBuilder().idempotencyKey(name + "-" + idempotencyKeys++).build() : task);
      }
      client.submitBatch(queue, tasks).forEach(this::remember);
    }

    private NewTask task() {
      NewTask task = random.nextInt(4) == 0
          ? NewTask.at(Instant.ofEpochMilli(System.currentTimeMillis() + random.nextInt(MAX_DELAY_MILLIS)))
          : NewTask.after(delay());
      return random.nextInt(3) == 0
          ? task
          : task.toBuilder().payload(Payload.json("{\"n\": " + random.nextInt() + "}")).build();
    }

    private Duration delay() {
      return Duration.ofMillis(random.nextInt(5) == 0 ? 0 : random.nextInt(MAX_DELAY_MILLIS));
    }

    private String key() {
      return "k" + (random.nextBoolean() ? random.nextInt(HOT_KEYS) : random.nextInt(KEYS));
    }

    private List<String> keys() {
      Set<String> keys = new LinkedHashSet<>();
      for (int left = random.nextInt(1, 5); left > 0; left--) {
        keys.add(key());
      }
      return List.copyOf(keys);
    }

    private void remember(@Nullable SubmittedTask task) {
      // A task with a key is cancelled by its key, so its id is not needed.
      if (task == null || task.key() != null) {
        return;
      }
      if (known.size() < KNOWN_TASKS) {
        known.add(task.id());
      } else {
        known.set(random.nextInt(KNOWN_TASKS), task.id());
      }
    }

    private void withKnown(Consumer<String> operation) {
      if (!known.isEmpty()) {
        operation.accept(known.get(random.nextInt(known.size())));
      }
    }
  }
}
