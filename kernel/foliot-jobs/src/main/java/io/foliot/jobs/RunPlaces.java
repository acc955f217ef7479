package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Scope;
import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.Fleet.Seat;
import io.foliot.jobs.Allocators.UnallocatedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Chooses the targets of a run that begins: a pure function of the job, the present workers and the allocators. */
final class RunPlaces {
  private RunPlaces() {}

  /** The choice for a time that is to run. */
  sealed interface Choice {}

  /**
   * The run begins.
   *
   * @param shards how many shards the run has, over all zones or workers
   * @param targets where the shards run
   */
  record Begin(int shards, Targets targets) implements Choice {}

  /**
   * The run cannot begin yet.
   *
   * @param reason the reason, for display
   * @param unallocated the failure of the allocator, or null if the run waits for something else
   */
  record Wait(String reason, @Nullable UnallocatedException unallocated) implements Choice {
    Wait(String reason) {
      this(reason, null);
    }
  }

  /**
   * The run does not begin, because it would be too large.
   *
   * @param reason the bound that it exceeds
   */
  record TooLarge(InvalidSettingException reason) implements Choice {}

  /** The run has no worker to run on. */
  record NoTargets() implements Choice {}

  /**
   * Chooses the targets of the next run of a job. If both its allocator and workers are missing, the reason names the
   * allocator.
   *
   * @param parameter the payload of the shards of the run
   * @param workers the workers of this node
   * @param now the store's time, in milliseconds since 1970
   * @param allocators divide the shards of a job with {@link Allocation#OWN}
   */
  static Choice choose(Job job, Body parameter, Attendance workers, long now, Allocators allocators) {
    Fleet fleet = workers.fleet();
    try {
      ensureFits(job, parameter, fleet);
      if (job.allocation() == Allocation.OWN) {
        allocators.ensureHas(job.allocator());
      }
      return switch (job.scope()) {
        case ONE -> one(job, fleet, allocators);
        case PER_ZONE -> perZone(job, workers, now, allocators);
        case ALL -> all(job, workers, now);
      };
    } catch (InvalidSettingException e) {
      return new TooLarge(e);
    } catch (UnallocatedException e) {
      return new Wait(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Ensures that a run of a job would not exceed the limits for runs.
   *
   * @param parameter the payload of the shards of the run
   * @param fleet the workers; if null, only the zones that the job names are considered
   * @throws InvalidSettingException if the run would be larger
   */
  static void ensureFits(Job job, Body parameter, @Nullable Fleet fleet) {
    Fleet known = fleet == null ? Fleet.EMPTY : fleet;
    List<Seat> workers = known.working(job.queue());
    switch (job.scope()) {
      case ONE -> Job.ensureRun(1, job.shards(), parameter);
      case PER_ZONE -> Job.ensureRun(Math.max(1, zones(job, known, workers).size()), job.shards(), parameter);
      case ALL -> Job.ensureRun(1, workers.size(), parameter);
    }
  }

  private static Choice one(Job job, @Nullable Fleet fleet, Allocators allocators) {
    boolean isOwn = job.allocation() == Allocation.OWN;
    if (isOwn && fleet == null) {
      return unread();
    }
    List<Seat> workers = fleet == null ? List.of() : fleet.working(job.queue());
    if (isOwn && workers.isEmpty()) {
      // Shards that are inserted now would all run on the first worker that joins, against the rule of allocation.
      return new Wait(waitsForWorker(job.queue()));
    }
    return new Begin(job.shards(), !isDivided(job) || workers.isEmpty()
        ? Targets.NONE
        : new Targets(List.of(new Targets.Group("", Address.Kind.SEAT, seats(job, workers, allocators)))));
  }

  /** Returns whether the rules of a job assign shards to workers. */
  private static boolean isDivided(Job job) {
    return job.allocation() == Allocation.OWN || (job.shards() > 1 && job.allocation() != Allocation.FREE);
  }

  private static List<Integer> seats(Job job, List<Seat> workers, Allocators allocators) {
    return job.allocation() == Allocation.OWN
        ? allocators.seats(job, workers)
        : ShardAllocation.seats(job.allocation(), job.name(), job.shards(), workers);
  }

  private static Choice all(Job job, Attendance workers, long now) {
    Fleet fleet = workers.fleet();
    if (fleet == null) {
      return unread();
    }
    if (workers.isReturning(now)) {
      return returning();
    }
    List<Integer> seats = fleet.working(job.queue()).stream().map(Seat::number).sorted().toList();
    return seats.isEmpty()
        ? withoutWorker(job, workers, now)
        : new Begin(seats.size(), new Targets(List.of(new Targets.Group("", Address.Kind.ONLY, seats))));
  }

  private static Wait unread() {
    return new Wait("waits until the workers of its queue have been read");
  }

  /** Workers that are not back yet would not take part in a run that begins now. */
  private static Wait returning() {
    return new Wait("waits until the workers have had time to call this node again");
  }

  private static Choice withoutWorker(Job job, Attendance workers, long now) {
    return workers.isWithoutWorker(job.queue(), now) ? new NoTargets() : new Wait(waitsForWorker(job.queue()));
  }

  private static Choice perZone(Job job, Attendance attendance, long now, Allocators allocators) {
    Fleet fleet = attendance.fleet();
    if (fleet == null) {
      return unread();
    }
    if (job.zones().isEmpty() && attendance.isReturning(now)) {
      return returning();
    }
    List<Seat> workers = fleet.working(job.queue());
    List<String> zones = zones(job, fleet, workers);
    if (zones.isEmpty()) {
      return withoutWorker(job, attendance, now);
    }
    List<Targets.Group> groups = new ArrayList<>();
    for (String zone : zones) {
      int number = fleet.zone(zone);
      if (number < 0) {
        return new Wait(waits(zone));
      }
      List<Seat> there = workers.stream().filter(seat -> seat.zone().equals(zone)).toList();
      if (job.allocation() == Allocation.OWN && there.isEmpty()) {
        return new Wait(waits(zone));
      }
      groups.add(!isDivided(job) || there.isEmpty()
          ? new Targets.Group(zone, Address.Kind.ZONE, Collections.nCopies(job.shards(), number))
          : new Targets.Group(zone, Address.Kind.ZONE_SEAT, seats(job, there, allocators)));
    }
    return new Begin(zones.size() * job.shards(), new Targets(groups));
  }

  private static List<String> zones(Job job, Fleet fleet, List<Seat> workers) {
    if (!job.zones().isEmpty()) {
      return job.zones();
    }
    Set<String> zones = new LinkedHashSet<>();
    workers.stream().map(Seat::zone).sorted(Comparator.comparingInt(fleet::zone)).forEach(zones::add);
    return List.copyOf(zones);
  }

  static String waitsForWorker(String queue) {
    return "waits for a worker of queue " + queue;
  }

  private static String waits(String zone) {
    return "waits for a worker in zone " + zone;
  }

  /** Returns why a run that is due now would have no worker to run on; empty if the run would begin or would wait. */
  static String wouldMiss(Job job, Fleet fleet) {
    boolean needsWorker = job.scope() == Scope.ALL || (job.scope() == Scope.PER_ZONE && job.zones().isEmpty());
    return needsWorker && fleet.working(job.queue()).isEmpty()
        ? "has no worker in queue " + job.queue()
            + "; a time that has waited half a minute for one is recorded as NO_TARGETS"
        : "";
  }

  /**
   * Returns whether no worker will begin a shard any more, because only one worker may run it, and that worker gets no
   * tasks of the queue: it is gone, is disabled, or has left the queue, or another worker has its place. This is the
   * same condition as in {@link Fleet#serves}. A seat that is missing in the fleet of this node may be newer than the
   * fleet.
   */
  static boolean isAbandoned(Run run, String queue, int shard, Fleet fleet) {
    if (!run.targets().isOnly()) {
      return false;
    }
    int number = run.targets().address(shard).number();
    Seat seat = fleet.seat(number);
    return seat == null ? fleet.isOver(number) : !seat.works(queue);
  }

  /** Returns why an active run waits for workers, given the present workers; empty if it does not wait. */
  static String waitsFor(Job job, Run run, Fleet fleet) {
    List<Seat> workers = fleet.working(run.queue(job));
    if (workers.isEmpty()) {
      return waitsForWorker(run.queue(job));
    }
    for (int shard = run.ended().nextClearBit(0); shard < run.inserted(); shard = run.ended().nextClearBit(shard + 1)) {
      if (!run.targets().isNone()) {
        String zone = run.targets().group(shard).zone();
        if (!zone.isEmpty() && workers.stream().noneMatch(seat -> seat.zone().equals(zone))) {
          return waits(zone);
        }
        if (isAbandoned(run, run.queue(job), shard, fleet)) {
          return "waits until the shards of workers that no longer take tasks of queue " + run.queue(job)
              + " have ended or are cancelled";
        }
      }
    }
    return "";
  }
}
