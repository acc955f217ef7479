package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Job;
import io.foliot.core.store.TaskStore;
import io.foliot.jobs.JobStatus;
import io.foliot.jobs.JobSurroundings;
import io.foliot.jobs.Jobs;
import io.foliot.server.api.Route;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that no call acts on a job that its caller may not see, however the calls of two callers interleave. The test
 * sends each call that can name a job. Each time, it stops the call at another one of its steps on the store. At that
 * moment another caller creates the job in a foreign queue, or moves it there. The call must neither change nor show
 * the foreign job.
 */
class JobRaceTest {
  private static final String SECRET = "their-secret";
  private static final String OWN = "our-payload";
  private static final String JOB = "nightly";
  private static final String TIME = "2026-01-01T00:00:00Z";
  /** More steps than any call takes. */
  private static final int MAX_STEPS = 60;

  /** Runs before the step that is chosen, and reports whether it could change the job. */
  private @Nullable Runnable interruption;
  private final AtomicInteger steps = new AtomicInteger();
  private int interruptedStep;
  private @Nullable TaskStore store;
  private final Rig rig = Rig.withJobsOver(this::interrupted);

  @AfterEach
  void stop() {
    rig.close();
  }

  private TaskStore interrupted(TaskStore real) {
    store = real;
    return (TaskStore) Proxy.newProxyInstance(JobRaceTest.class.getClassLoader(), new Class<?>[]{TaskStore.class},
        (proxy, method, arguments) -> {
          boolean isStep = method.getReturnType() != void.class && method.getParameterCount() > 0;
          if (isStep && steps.incrementAndGet() == interruptedStep && interruption != null) {
            interruption.run();
          }
          try {
            return method.invoke(real, arguments);
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        });
  }

  /** Returns the jobs as another caller changes them. A change that is not possible at once is given up at once. */
  private Jobs others() {
    TaskStore real = Objects.requireNonNull(store);
    SplittableRandom random = new SplittableRandom(1);
    AtomicInteger seconds = new AtomicInteger();
    return new Jobs(real, drafts -> real.submit(drafts).toCompletableFuture(), new JobSurroundings() {
      @Override
      public long nanoTime() {
        return Duration.ofSeconds(seconds.incrementAndGet()).toNanos();
      }

      @Override
      public long wallMillis() {
        return System.currentTimeMillis();
      }

      @Override
      public void after(long millis, Runnable action) {
        action.run();
      }

      @Override
      public long randomBits() {
        return random.nextLong();
      }
    });
  }

  private static Job job(String queue, String payload) {
    return Job.named(JOB).queue(queue).at(Instant.parse("2099-01-01T00:00:00Z"))
        .parameter(Body.json("{\"p\": \"" + payload + "\"}")).build();
  }

  /** The state of the job before a call, and what another caller does to it during the call. */
  private enum Scenario {
    CREATED(false), DELETED_AND_CREATED(true);

    final boolean isOwnBefore;

    Scenario(boolean isOwnBefore) {
      this.isOwnBefore = isOwnBefore;
    }
  }

  /** Replaces the job by a foreign one, and returns whether that was possible at this moment. */
  private boolean taken() {
    try {
      others().delete(JOB, true).join();
      others().put(job("theirs", SECRET)).join();
      return true;
    } catch (CompletionException e) {
      return false;
    }
  }

  private record Call(String method, String path, @Nullable String body) {}

  private static String putBody() {
    return "{\"queue\": \"ours\", \"schedule\": {\"at\": \"2099-01-01T00:00:00Z\"}, \"parameter\": \"" + OWN
        + "\"}";
  }

  private static Stream<Call> calls(Route route) {
    String path = route.path().replace("{job}", JOB).replace("{time}", TIME);
    Call call = new Call(route.method(), path, switch (route) {
      case PUT_JOB, DECLARE_JOB -> putBody();
      case PUT_JOBS -> "{\"job\": \"" + JOB + "\", " + putBody().substring(1) + "\n";
      case PATCH_JOB -> "{\"timeout\": \"5m\"}";
      case TRIGGER_JOB -> "{\"parameter\": \"" + OWN + "\"}";
      case BACKFILL_JOB -> "{\"from\": \"2026-01-01T00:00:00Z\", \"to\": \"2026-01-02T00:00:00Z\"}";
      case REDRIVE_RUN -> "{\"shard\": 0}";
      case PAUSE_JOB, RESUME_JOB, STOP_RUN -> "";
      default -> null;
    });
    return route == Route.DELETE_JOB
        ? Stream.of(call, new Call(route.method(), path + "?runs=cancel", null))
        : Stream.of(call);
  }

  private Rig.Answer send(Call call) {
    String type = call.path.endsWith(":batch") ? "application/x-ndjson" : "application/json";
    return rig.send(call.method, call.path, call.body, Map.of("Content-Type", type));
  }

  @Test
  void noCallReachesAForeignJobAtAnyStep() {
    String admin = rig.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key");
    rig.as(admin).withQueue("ours").withQueue("theirs");
    String own = rig.post("/v1/keys", "{\"actions\": [\"read\", \"submit\"], \"queues\": [\"ours\"]}").text("key");
    rig.as(own);
    List<Call> calls = Arrays.stream(Route.values())
        .filter(route -> route.path().contains("{job}") || route == Route.PUT_JOBS || route == Route.LIST_JOBS)
        .flatMap(JobRaceTest::calls).toList();
    int reached = 0;
    for (Call call : calls) {
      for (Scenario scenario : Scenario.values()) {
        reached += attack(call, scenario);
      }
    }
    assertThat(reached).as("attacks during a call").isGreaterThan(2 * calls.size());
  }

  /** Attacks each step of a call, and returns how many attacks could replace the job. */
  private int attack(Call call, Scenario scenario) {
    int reached = 0;
    for (int step = 1; step <= MAX_STEPS; step++) {
      interruptedStep = 0;
      interruption = null;
      prepare(scenario);
      List<Boolean> taken = new ArrayList<>();
      steps.set(0);
      interruptedStep = step;
      interruption = () -> taken.add(taken());
      Rig.Answer answer = send(call);
      interruptedStep = 0;
      String what = call + " of a job that was " + scenario + " at step " + step + ": " + answer;
      assertThat(answer.body()).as(what).doesNotContain(SECRET);
      if (taken.isEmpty()) {
        assertThat(step).as("the call has steps: " + what).isGreaterThan(1);
        return reached;
      }
      if (taken.getFirst()) {
        reached++;
        ensureUntouched(what);
      }
    }
    throw new AssertionError("the call takes more steps than expected: " + call);
  }

  private void prepare(Scenario scenario) {
    boolean isGone = false;
    while (!isGone) {
      // A planning pass may be under way, and passes of a job take some milliseconds.
      isGone = others().delete(JOB, true).handle((existed, failure) -> failure == null).join();
    }
    if (scenario.isOwnBefore) {
      Rig.Answer put = rig.send("PUT", "/v1/jobs/" + JOB, putBody(), Map.of("Content-Type", "application/json"));
      assertThat(put.status()).as(put.body()).isEqualTo(201);
    }
  }

  private void ensureUntouched(String what) {
    Optional<JobStatus> found = others().find(JOB).join();
    assertThat(found).as(what).isPresent();
    JobStatus status = found.orElseThrow();
    assertThat(status.definition()).as(what).isEqualTo(job("theirs", SECRET));
    assertThat(status.version()).as(what).isEqualTo(1);
    assertThat(status.state()).as(what).isEqualTo(JobStatus.State.ACTIVE);
    assertThat(status.waiting()).as(what).isZero();
    assertThat(status.active()).as(what).isEmpty();
    assertThat(status.totals().requested()).as(what).isZero();
  }
}
