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
 * Servers under load over a store that fails again and again: after each fault they must become ready and fire again
 * without help.
 */
final class FaultRun implements AutoCloseable {
  /** Pause after which four clients make less than a hundred operations a second. */
  private static final long STEP_MILLIS = 40;

  /**
   * The time in which servers must be ready and fire again: a connection that is made anew within five seconds,
   * a pause of two seconds between tries, a lease of five, on a machine that does other things, too.
   */
  private static final Duration RECOVERY_BOUND = Duration.ofSeconds(60);

  /** The time in which servers must report that they are not ready. */
  private static final Duration DOWN_BOUND = Duration.ofSeconds(30);

  /** The time that a call waits for the store: longer than a store takes to notice that its server is gone. */
  private static final String CALL_TIMEOUT = "7s";

  /** The time for which servers must have reported the same until it counts. */
  private static final long STEADY_MILLIS = 500;

  /**
   * The course of a fault.
   *
   * @param brokenMillis the time for which it lasted
   * @param wasDown whether each server reported at its end that it was not ready
   * @param readyAfterMillis the time from its end until all servers were ready, and stayed so
   * @param firedAfterMillis the time from its end until the first attempt
   * @param refused calls that were answered meanwhile with 503
   * @param unknown calls that were answered meanwhile with 504
   * @param lateMillis lateness of tasks of the wide queue that became due meanwhile and had not been claimed
   *     before, in ascending order
   */
  record Recovery(InjectedFault trouble, long brokenMillis, boolean wasDown, long readyAfterMillis,
      long firedAfterMillis,
      long refused, long unknown, List<Long> lateMillis) {
    boolean isOutage() {
      return trouble.effect() == InjectedFault.Effect.OUTAGE;
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%s: broken for %d ms, %s, %d calls refused, %d of unknown outcome; ready after"
          + " %d ms, fires after %d ms; first attempts late by p50 %d, p99 %d, most %d ms (%d)", trouble.name(),
          brokenMillis, wasDown ? "not ready" : "ready", refused, unknown, readyAfterMillis, firedAfterMillis,
          late(0.5), late(0.99), late(1), lateMillis.size());
    }

    private long late(double share) {
      return lateMillis.isEmpty() ? 0 : lateMillis.get((int) Math.ceil(share * lateMillis.size()) - 1);
    }
  }

  private record Passed(InjectedFault trouble, long begunMillis, long brokenMillis, long healedMillis,
      long readyMillis) {}

  final Rig rig;
  private final List<HealthWatch> watches;
  private final List<Passed> passed = new ArrayList<>();

  /**
   * Starts the servers and the load.
   *
   * @param store where all of them keep their tasks
   * @param servers how many
   */
  FaultRun(String name, long seed, StoreChoice store, int servers) throws IOException {
    this(name, seed, Collections.nCopies(servers, store), Collections.nCopies(servers, ServerHost.LOOPBACK));
  }

  /**
   * Starts the servers and the load.
   *
   * @param stores for each server its way to the store of all
   * @param places for each server where it runs
   */
  FaultRun(String name, long seed, List<StoreChoice> stores, List<ServerHost> places) throws IOException {
    rig = new Rig(name, seed, stores.stream().map(store -> store.with("--call-timeout", CALL_TIMEOUT)).toList(),
        places);
    watches = rig.servers.stream().map(HealthWatch::new).toList();
    rig.load(STEP_MILLIS);
  }

  /** Injects a fault, heals it, and waits until the system has recovered by itself. */
  void endure(InjectedFault trouble) {
    long begunMillis = System.currentTimeMillis();
    long window = rig.history.faultBegan(begunMillis, trouble.fault(), trouble.name());
    trouble.breaks().run();
    if (trouble.effect() == InjectedFault.Effect.OUTAGE) {
      // A slow machine takes longer to notice; how long is not what these runs judge.
      Await.until("all servers say that they are not ready during: " + trouble.name(), DOWN_BOUND,
          () -> wereDown(System.currentTimeMillis()));
    }
    long brokenMillis = System.currentTimeMillis();
    trouble.heals().run();
    long healedMillis = System.currentTimeMillis();
    rig.history.faultEnded(window, healedMillis);
    long begun = rig.receiver.begun();
    Await.until("something is fired after: " + trouble.name(), RECOVERY_BOUND, () -> rig.receiver.begun() > begun);
    Await.until("all servers are ready after: " + trouble.name(), RECOVERY_BOUND, () -> watches.stream()
        .allMatch(watch -> watch.isReadySince(Math.max(healedMillis, System.currentTimeMillis() - STEADY_MILLIS))
            && System.currentTimeMillis() - healedMillis > STEADY_MILLIS));
    long now = System.currentTimeMillis();
    long readyMillis = watches.stream().mapToLong(watch -> watch.readyMillis(healedMillis, now)).max().orElseThrow();
    passed.add(new Passed(trouble, begunMillis, brokenMillis, healedMillis, readyMillis));
    rig.say(trouble.name() + " is over");
  }

  /** Returns whether each server has said for a while that it is not ready. */
  private boolean wereDown(long millis) {
    return watches.stream().allMatch(watch -> watch.wasSteadilyDown(millis - STEADY_MILLIS, millis));
  }

  /** Returns the course of each fault; to be called when the load has ended. */
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
        unknown += answered.reply() instanceof Reply.Unknown(String reason) && isSaidToBeUnknown(reason) ? 1 : 0;
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
    return new Recovery(each.trouble, each.healedMillis - each.begunMillis, wasDown,
        each.readyMillis - each.healedMillis, fired - each.healedMillis, refused, unknown, late);
  }

  /**
   * Returns the answers to clients that are neither a result, nor say that the store is unreachable or the outcome
   * unknown. Answers of the time in which a server is gone are left out.
   */
  List<Event> mistakes() {
    Map<Long, Long> askedMillis = new HashMap<>();
    List<Event> mistakes = new ArrayList<>();
    for (Event event : rig.history.events()) {
      if (event instanceof Event.Invoked invoked) {
        askedMillis.put(invoked.op(), invoked.atMillis());
      } else if (event instanceof Event.Answered answered && isMistake(answered.reply())) {
        long asked = Objects.requireNonNull(askedMillis.get(answered.op()));
        if (passed.stream().noneMatch(each -> isGone(each, asked, answered.atMillis()))) {
          mistakes.add(event);
        }
      }
    }
    return mistakes;
  }

  /** Returns whether one of the servers was gone at some time while a call was under way. */
  private static boolean isGone(Passed each, long askedMillis, long answeredMillis) {
    return each.trouble.effect() == InjectedFault.Effect.SERVER_GONE && answeredMillis >= each.begunMillis
        && askedMillis <= each.readyMillis + STEADY_MILLIS;
  }

  private static boolean isSaidToBeUnknown(String reason) {
    return reason.contains("status=504");
  }

  /** Not a mistake: the store is unreachable, the key has a live task, or the task is final. */
  private static boolean isMistake(Reply reply) {
    return switch (reply) {
      case Reply.Unknown(String reason) -> !isSaidToBeUnknown(reason);
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
