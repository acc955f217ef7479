package io.foliot.jobs;

import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.Fleet.Seat;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The workers as a node has read them, and for how long it has missed those that it does not see. Immutable. Times are
 * milliseconds since 1970, by the store's clock.
 *
 * <p>One read without a worker does not show that the worker is gone. After a restart of the server, its workers are
 * back only after their next try to connect, and those of an application start with the application. So a queue has no
 * worker, and a worker is gone, only after this node has missed it for some time.
 *
 * @param fleet the workers that were read last; null before the first read
 * @param since when the workers were read first
 * @param queues the queues that have lost their last worker since then, and when
 * @param seats the numbers of the seats whose workers have left since then, and when
 * @param quits the queues that live workers have left since then, and when
 */
record Attendance(@Nullable Fleet fleet, long since, Map<String, Long> queues, Map<Integer, Long> seats,
    Map<Quit, Long> quits) {
  /** No worker has been read. */
  static final Attendance UNKNOWN = new Attendance(null, 0, Map.of(), Map.of(), Map.of());
  /**
   * Time without a worker after which the worker counts as absent: a worker tries to connect every five seconds, polls
   * for five seconds, and is read a second later; the rest is for a machine or an application that starts slowly.
   */
  static final long ABSENT_MILLIS = Duration.ofSeconds(30).toMillis();
  /**
   * Time in which a worker may be on its way back to a node that runs: the longest pause between two tries of a worker
   * to connect, and its first poll.
   */
  static final long RETURN_MILLIS = Duration.ofSeconds(10).toMillis();

  /** A queue that the worker of a seat has left, while its process still claims from other queues. */
  record Quit(int seat, String queue) {}

  Attendance {
    queues = Map.copyOf(queues);
    seats = Map.copyOf(seats);
    quits = Map.copyOf(quits);
  }

  /** Returns these workers; all others have been absent for ever. */
  static Attendance of(@Nullable Fleet fleet) {
    return new Attendance(fleet, Long.MIN_VALUE / 2, Map.of(), Map.of(), Map.of());
  }

  /** Returns the attendance after a read. */
  Attendance with(Fleet next, long now) {
    if (fleet == null) {
      return new Attendance(next, now, Map.of(), Map.of(), Map.of());
    }
    Map<String, Long> left = new HashMap<>(queues);
    working(fleet).forEach(queue -> left.put(queue, now));
    left.keySet().removeAll(working(next));
    Map<Integer, Long> gone = new HashMap<>();
    Set<Integer> wereGone = new HashSet<>();
    fleet.seats().stream().filter(seat -> !seat.isLive()).forEach(seat -> wereGone.add(seat.number()));
    for (Seat seat : next.seats()) {
      if (!seat.isLive()) {
        Long at = wereGone.contains(seat.number()) ? seats.get(seat.number()) : Long.valueOf(now);
        if (at != null) {
          gone.put(seat.number(), at);
        }
      }
    }
    return new Attendance(next, since, left, gone, quits(fleet, next, now));
  }

  private Map<Quit, Long> quits(Fleet before, Fleet next, long now) {
    Map<Quit, Long> all = new HashMap<>();
    quits.forEach((quit, at) -> {
      Seat seat = next.seat(quit.seat());
      if (seat != null && seat.isLive() && !seat.queues().contains(quit.queue())) {
        all.put(quit, at);
      }
    });
    for (Seat seat : before.seats()) {
      Seat after = next.seat(seat.number());
      if (seat.isLive() && after != null && after.isLive()) {
        seat.queues().stream().filter(queue -> !after.queues().contains(queue))
            .forEach(queue -> all.putIfAbsent(new Quit(seat.number(), queue), now));
      }
    }
    return all;
  }

  private static Set<String> working(Fleet fleet) {
    Set<String> queues = new HashSet<>();
    for (Seat seat : fleet.seats()) {
      if (seat.isLive() && seat.isEnabled()) {
        queues.addAll(seat.queues());
      }
    }
    return queues;
  }

  /**
   * Returns this attendance for a pass. If the store's clock was set back, absences that began after {@code now} begin
   * at {@code now}; otherwise runs would wait until the clock shows the old time again.
   */
  Attendance asOf(long now) {
    long latest = now + ABSENT_MILLIS;
    boolean isAhead = since > latest || queues.values().stream().anyMatch(at -> at > latest)
        || seats.values().stream().anyMatch(at -> at > latest) || quits.values().stream().anyMatch(at -> at > latest);
    if (!isAhead) {
      return this;
    }
    Map<String, Long> left = new HashMap<>(queues);
    left.replaceAll((queue, at) -> Math.min(at, now));
    Map<Integer, Long> gone = new HashMap<>(seats);
    gone.replaceAll((seat, at) -> Math.min(at, now));
    Map<Quit, Long> quit = new HashMap<>(quits);
    quit.replaceAll((each, at) -> Math.min(at, now));
    return new Attendance(fleet, Math.min(since, now), left, gone, quit);
  }

  /** Returns whether the workers are known, and a queue has been without a worker long enough. */
  boolean isWithoutWorker(String queue, long now) {
    return fleet != null && fleet.working(queue).isEmpty()
        && now - queues.getOrDefault(queue, since) >= ABSENT_MILLIS;
  }

  /**
   * Returns whether the worker of a seat has been absent from a queue long enough: for {@link #RETURN_MILLIS} if this
   * node saw it leave, and for {@link #ABSENT_MILLIS} if this node has not seen it there since its first read. A live
   * worker that no longer claims from the queue counts as absent from it.
   */
  boolean isGone(Seat seat, String queue, long now) {
    if (seat.isLive() && seat.queues().contains(queue)) {
      return false;
    }
    Long left = seat.isLive() ? quits.get(new Quit(seat.number(), queue)) : seats.get(seat.number());
    return left == null ? now - since >= ABSENT_MILLIS : now - left >= RETURN_MILLIS;
  }

  /** Returns whether this node has just begun to read the workers, and some of them may be on their way back. */
  boolean isReturning(long now) {
    return fleet != null && now - since < RETURN_MILLIS && fleet.seats().stream().anyMatch(seat -> !seat.isLive());
  }
}
