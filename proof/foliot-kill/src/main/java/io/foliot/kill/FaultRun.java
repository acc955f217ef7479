package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.history.Attempt;
import io.foliot.history.Event;
import io.foliot.history.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * A run of servers under load over a store that fails repeatedly. After each fault the servers must become ready and
 * fire again without help.
 */
final class FaultRun implements AutoCloseable {
  /** Pause of each client between two operations. */
  private static final long STEP_MILLIS = 40;

  /**
   * Bound of each of two waits after a fault: for the next attempt, and then until all servers are ready. It covers 5 s
   * for a new connection, 2 s between two tries, a lease of 5 s, and the delays of a busy machine.
   */
  private static final Duration RECOVERY_BOUND = Duration.ofSeconds(60);

  /** Longest time from the beginning of an outage until all servers must report that they are not ready. */
  private static final Duration DOWN_BOUND = Duration.ofSeconds(30);

  /**
   * Longest time that a call waits for the store. It exceeds the time that a server needs to notice that the store is
   * gone.
   */
  private static final String CALL_TIMEOUT = "7s";

  /** Time for which servers must have reported the same state before this run relies on the state. */
  private static final long STEADY_MILLIS = 500;

  /**
   * The course of a fault.
   *
   * @param brokenMillis the time from the beginning of the fault to the end of its healing
   * @param wasDown whether each server reported, when the healing began, that it was not ready
   * @param readyAfterMillis the time from the end of the fault until all servers were ready and stayed ready
   * @param firedAfterMillis the time from the end of the fault until the next attempt began
   * @param refused the number of calls that were answered with 503 during the fault
   * @param unknown the number of calls that were answered with 504 during the fault
   * @param lateMillis the lateness of the first attempts of tasks of {@link Rig#WIDE}, in ascending order. Only tasks
   *     that became due between the beginning of the fault and the beginning of its healing are included
   */
  record Recovery(InjectedFault fault, long brokenMillis, boolean wasDown, long readyAfterMillis,
      long firedAfterMillis,
      long refused, long unknown, List<Long> lateMillis) {
    boolean isOutage() {
      return fault.effect() == InjectedFault.Effect.OUTAGE;
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%s: broken for %d ms, %s, %d calls refused, %d of unknown outcome; ready after"
          + " %d ms, fires after %d ms; first attempts late by p50 %d, p99 %d, most %d ms (%d)", fault.name(),
          brokenMillis, wasDown ? "not ready" : "ready", refused, unknown, readyAfterMillis, firedAfterMillis,
          late(0.5), late(0.99), late(1), lateMillis.size());
    }

    private long late(double share) {
      return lateMillis.isEmpty() ? 0 : lateMillis.get((int) Math.ceil(share * lateMillis.size()) - 1);
    }
  }

  /**
   * A fault that is over, with instants in ms since 1970.
   *
   * @param begunMillis when the fault began
   * @param brokenMillis when its healing began
   * @param healedMillis when its healing ended
   * @param readyMillis when all servers were ready again
   */
  private record Passed(InjectedFault fault, long begunMillis, long brokenMillis, long healedMillis,
      long readyMillis) {}

  final Rig rig;
  private final List<HealthWatch> watches;
  private final List<Passed> passed = new ArrayList<>();

  /**
   * Starts the servers and the load.
   *
   * @param store the store that all servers share
   * @param servers the number of servers
   */
  FaultRun(String name, long seed, StoreChoice store, int servers) throws IOException {
    this(name, seed, Collections.nCopies(servers, store), Collections.nCopies(servers, ServerHost.LOOPBACK));
  }

  /**
   * Starts the servers and the load.
   *
   * @param stores for each server the options by which it reaches the common store
   * @param places for each server the host on which it runs
   */
  FaultRun(String name, long seed, List<StoreChoice> stores, List<ServerHost> places) throws IOException {
    rig = new Rig(name, seed, stores.stream().map(store -> store.with("--call-timeout", CALL_TIMEOUT)).toList(),
        places);
    watches = rig.servers.stream().map(HealthWatch::new).toList();
    rig.load(STEP_MILLIS);
  }

  /** Injects a fault, heals it, and waits until the system has recovered by itself. */
  void endure(InjectedFault fault) {
    long begunMillis = System.currentTimeMillis();
    long window = rig.history.faultBegan(begunMillis, fault.kind(), fault.name());
    fault.breaks().run();
    if (fault.effect() == InjectedFault.Effect.OUTAGE) {
      // The bound is wide: a server on a slow machine notices an outage late, and these runs do not check that time.
      Await.until("all servers report that they are not ready during: " + fault.name(), DOWN_BOUND,
          () -> wereDown(System.currentTimeMillis()));
    }
    long brokenMillis = System.currentTimeMillis();
    fault.heals().run();
    long healedMillis = System.currentTimeMillis();
    rig.history.faultEnded(window, healedMillis + fault.aftermathMillis());
    long begun = rig.receiver.begun();
    Await.until("an attempt begins after: " + fault.name(), RECOVERY_BOUND, () -> rig.receiver.begun() > begun);
    Await.until("all servers are ready after: " + fault.name(), RECOVERY_BOUND, () -> watches.stream()
        .allMatch(watch -> watch.isReadySince(Math.max(healedMillis, System.currentTimeMillis() - STEADY_MILLIS))
            && System.currentTimeMillis() - healedMillis > STEADY_MILLIS));
    long now = System.currentTimeMillis();
    long readyMillis = watches.stream().mapToLong(watch -> watch.readyMillis(healedMillis, now)).max().orElseThrow();
    passed.add(new Passed(fault, begunMillis, brokenMillis, healedMillis, readyMillis));
    rig.say(fault.name() + " is over");
  }

  /** Returns whether no server was ready during the last {@link #STEADY_MILLIS} before an instant. */
  private boolean wereDown(long millis) {
    return watches.stream().allMatch(watch -> watch.wasSteadilyDown(millis - STEADY_MILLIS, millis));
  }

  /** Returns the course of each fault. Must be called after the load has ended. */
  List<Recovery> recoveries() {
    List<Event> events = rig.history.events();
    return passed.stream().map(each -> recovery(each, events)).toList();
  }

  private Recovery recovery(Passed each, List<Event> events) {
    long refused = 0;
    long unknown = 0;
    long fired = Long.MAX_VALUE;
    List<Long> late = new ArrayList<>();
    for (Event event : events) {
      boolean meanwhile = event.atMillis() >= each.begunMillis && event.atMillis() <= each.healedMillis;
      if (event instanceof Event.Answered answered && meanwhile) {
        refused += answered.reply() instanceof Reply.Failed(String reason) && reason.startsWith("503") ? 1 : 0;
        unknown += answered.reply() instanceof Reply.Unknown(String reason) && isReportedUnknown(reason) ? 1 : 0;
      } else if (event instanceof Event.Began && event.atMillis() >= each.healedMillis) {
        fired = Math.min(fired, event.atMillis());
      }
      if (event instanceof Event.Began(long delivery, long atMillis, Attempt attempt) && attempt.attempt() == 1
          && attempt.queue().equals(Rig.WIDE) && attempt.dueAtMillis() >= each.begunMillis
          && attempt.dueAtMillis() <= each.brokenMillis) {
        late.add(atMillis - attempt.dueAtMillis());
      }
    }
    Collections.sort(late);
    boolean wasDown = wereDown(each.brokenMillis);
    return new Recovery(each.fault, each.healedMillis - each.begunMillis, wasDown,
        each.readyMillis - each.healedMillis, fired - each.healedMillis, refused, unknown, late);
  }

  /**
   * Returns the answers that clients should not get: all errors except an unreachable store, an unknown outcome and a
   * conflict. Calls that were under way while a server was gone are left out.
   */
  List<Event> mistakes() {
    Map<Long, Long> sentMillis = new HashMap<>();
    List<Event> mistakes = new ArrayList<>();
    for (Event event : rig.history.events()) {
      if (event instanceof Event.Invoked invoked) {
        sentMillis.put(invoked.op(), invoked.atMillis());
      } else if (event instanceof Event.Answered answered && isMistake(answered.reply())) {
        long sent = Objects.requireNonNull(sentMillis.get(answered.op()));
        if (passed.stream().noneMatch(each -> isGone(each, sent, answered.atMillis()))) {
          mistakes.add(event);
        }
      }
    }
    return mistakes;
  }

  /** Returns whether a fault made a server absent at some time during a call. */
  private static boolean isGone(Passed each, long sentMillis, long answeredMillis) {
    return each.fault.effect() == InjectedFault.Effect.SERVER_GONE && answeredMillis >= each.begunMillis
        && sentMillis <= each.readyMillis + STEADY_MILLIS;
  }

  private static boolean isReportedUnknown(String reason) {
    return reason.contains("status=504");
  }

  /**
   * Returns whether an answer is an unexpected error. Expected are 503 (the store is unreachable), 504 (the outcome is
   * unknown) and 409 (the key has a live task, or the task is final).
   */
  private static boolean isMistake(Reply reply) {
    return switch (reply) {
      case Reply.Unknown(String reason) -> !isReportedUnknown(reason);
      case Reply.Failed(String reason) -> !reason.startsWith("503") && !reason.startsWith("409")
          && !reason.equals("urn:foliot:problem:key-in-use");
      default -> false;
    };
  }

  @Override
  public void close() throws IOException {
    watches.forEach(HealthWatch::close);
    rig.close();
  }
}
