package io.foliot.sim;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Runs of jobs over a fleet. Each run has a few tasks, whose addresses come from the fleet as one node has read it. A
 * caller writes the tasks as drafts, or a planner writes them as the children of its task, as the planner of jobs does.
 */
final class FleetRuns {
  static final String QUEUE = "pulled";
  private static final String RUNS = Limits.INTERNAL_QUEUES + "runs";
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Duration NEVER = Duration.ofDays(10);
  private static final int MOST_SHARDS = 8;
  private static final long LONGEST_DELAY_MILLIS = 3_000;

  private final SplittableRandom random;
  private final Schedule schedule;
  private final FleetJudge judge;

  /** A task of a run. */
  record Shard(TaskId id, Due due, boolean isParked) {}

  FleetRuns(SplittableRandom random, Schedule schedule, FleetJudge judge) {
    this.random = random;
    this.schedule = schedule;
    this.judge = judge;
  }

  /** Plans a run, reports it to the judge, and returns its tasks. */
  List<Shard> plan(Fleet fleet, int hash16) {
    List<Address> addresses = addresses(fleet);
    judge.planning(fleet, fleet.working(QUEUE).isEmpty());
    long run = random.nextLong();
    Due due = random.nextInt(3) == 0 ? Due.NOW : Due.after(random.nextLong(LONGEST_DELAY_MILLIS));
    List<Shard> shards = new ArrayList<>();
    for (int item = 0; item < addresses.size(); item++) {
      Address address = addresses.get(item);
      TaskId id = address.isAnywhere()
          ? TaskId.of(schedule.nowMillis(), hash16, random.nextLong())
          : TaskId.addressed(schedule.nowMillis(), hash16, address, item, run);
      shards.add(new Shard(id, due, random.nextBoolean()));
      judge.planned(id, address, fleet);
    }
    return shards;
  }

  private List<Address> addresses(Fleet fleet) {
    List<Address> addresses = new ArrayList<>();
    List<Fleet.Seat> working = fleet.working(QUEUE);
    switch (random.nextInt(7)) {
      case 0 -> addresses.addAll(anywhere());
      case 1 -> {
        // Shards go in turn to the seats whose workers get tasks of the queue, or anywhere if there is no such seat.
        for (int left = working.isEmpty() ? 0 : 1 + random.nextInt(MOST_SHARDS); left > 0; left--) {
          addresses.add(new Address(Address.Kind.SEAT, working.get(left % working.size()).number()));
        }
      }
      case 2 -> working.forEach(seat -> addresses.add(new Address(Address.Kind.ZONE_SEAT, seat.number())));
      case 3 -> working.stream().map(Fleet.Seat::zone).distinct()
          .forEach(zone -> addresses.add(new Address(Address.Kind.ZONE, fleet.zone(zone))));
      case 4 -> working.forEach(seat -> addresses.add(new Address(Address.Kind.ONLY, seat.number())));
      case 5 -> fleet.seats().forEach(seat -> addresses.add(new Address(Address.Kind.SEAT, seat.number())));
      default -> fleet.seats().forEach(seat -> addresses.add(new Address(Address.Kind.ZONE_SEAT, seat.number())));
    }
    return addresses.isEmpty() ? anywhere() : addresses;
  }

  private List<Address> anywhere() {
    List<Address> addresses = new ArrayList<>();
    for (int left = 1 + random.nextInt(MOST_SHARDS); left > 0; left--) {
      addresses.add(Address.ANYWHERE);
    }
    return addresses;
  }

  /** Plans a run, and returns its tasks as drafts, for a caller to write. */
  List<Draft> drafts(Fleet fleet) {
    return plan(fleet, random.nextInt(1 << 16)).stream()
        .map(shard -> draft(shard.id(), QUEUE, shard.due(), attempts(shard.id()))).toList();
  }

  /** Returns the draft of a task that plans a run when it is due. */
  Draft runDraft() {
    return draft(TaskId.of(schedule.nowMillis(), random.nextInt(1 << 16), random.nextLong()), RUNS,
        Due.after(random.nextLong(LONGEST_DELAY_MILLIS)), 0);
  }

  /** Returns the number of attempts of a task: 1 for half of the tasks that only one worker may run, 0 for the rest. */
  private static int attempts(TaskId id) {
    return id.address().kind() == Address.Kind.ONLY && id.low() % 2 == 0 ? 1 : 0;
  }

  private static Draft draft(TaskId id, String queue, Due due, int attempts) {
    return new Draft(id, queue, null, due, Body.EMPTY, attempts, OnConflict.REJECT, null);
  }

  Delivery planner() {
    return new Planner();
  }

  /** Plans a run when its task is due, from the latest fleet that its node has read. */
  private final class Planner implements Delivery {
    private Fleet fleet = Fleet.EMPTY;

    @Override
    public String type() {
      return "runs";
    }

    @Override
    public CompletionStage<Void> check(Target target) {
      return CompletableFuture.completedFuture(null); // The only target is that of the internal queue.
    }

    @Override
    public String destination(Target target) {
      return type();
    }

    @Override
    public List<QueueConfig> internalQueues() {
      return List.of(QueueConfig.of(RUNS, new Target(type(), Map.of(), TIMEOUT)).toBuilder()
          .retry(new Retry(Retry.MAX_ATTEMPTS, Duration.ofMillis(200), 2, Duration.ofSeconds(2), 0.2)).build());
    }

    @Override
    public void fleetChanged(Fleet found, long nowMillis) {
      fleet = found;
    }

    @Override
    public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
      List<Outcome.Child> children = plan(fleet, attempt.task().id().hash16()).stream()
          .map(shard -> new Outcome.Child(shard.id(), QUEUE, shard.due(), Body.EMPTY, attempts(shard.id()),
              shard.isParked()))
          .toList();
      return CompletableFuture.completedFuture(
          new Answer.Plan(new Outcome.Rearm(Due.after(NEVER.toMillis()), null, children), ""));
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
