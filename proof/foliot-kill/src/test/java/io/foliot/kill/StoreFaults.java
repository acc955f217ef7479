package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Injects faults into a store that several servers share, under load, and checks the results. A subclass names the
 * store and the faults. {@code -Dfaults=n} injects all faults n times. Without this property, the test injects a random
 * choice of the faults.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StoreFaults {
  static final int ROUNDS = Integer.getInteger("faults", 0);
  static final int SERVERS = 2;

  /** Length of a pause of a server. It exceeds a lease, so another server takes over the claims. */
  static final int FROZEN_MILLIS = 7_000;

  /** Number of faults that a build injects, in addition to the kill of the store. */
  private static final int DRAWN = 2;
  private static final int MIN_PAUSE_MILLIS = 200;
  private static final int MAX_PAUSE_MILLIS = 1_500;

  /** Duration of a black hole. It exceeds the time for which a call waits for the store. */
  static final int HOLE_MILLIS = 9_000;
  private static final Duration REPLY_BOUND = Duration.ofSeconds(30);

  /**
   * More attempts than this must begin after the last fault, so that a run on a slow machine checks as much as on a
   * fast one.
   */
  private static final long ENOUGH = 300;
  private static final Duration ENOUGH_BOUND = Duration.ofMinutes(2);

  private Rig.@Nullable Result result;
  private List<FaultRun.Recovery> recoveries = List.of();
  private List<Event> mistakes = List.of();

  /** Injects the first {@link #DRAWN} faults, or all with {@code -Dfaults}. A random pause precedes each fault. */
  static void endure(FaultRun run, List<InjectedFault> faults, SplittableRandom random) {
    for (InjectedFault fault : ROUNDS == 0 ? faults.subList(0, DRAWN) : faults) {
      Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
      run.endure(fault);
    }
  }

  /** Waits for enough attempts after the last fault, ends the load, and keeps the results that the tests check. */
  void judge(FaultRun run) {
    long begun = run.rig.receiver.begun();
    Await.until("enough attempts begin after the last fault", ENOUGH_BOUND,
        () -> run.rig.receiver.begun() - begun > ENOUGH);
    result = run.rig.judge();
    recoveries = run.recoveries();
    recoveries.forEach(recovery -> run.rig.say(recovery.toString()));
    mistakes = run.mistakes();
  }

  static InjectedFault blackHole(TcpProxy proxy) {
    return new InjectedFault("the store is unreachable", Event.Fault.PAUSE, InjectedFault.Effect.OUTAGE, () -> {
      proxy.blackHole();
      Await.pause(HOLE_MILLIS);
    }, proxy::heal);
  }

  static InjectedFault cut(TcpProxy proxy, String what, Predicate<String> request) {
    return InjectedFault.hitch("the reply to " + what + " is cut off after the commit", Event.Fault.OTHER, () -> {
      int before = proxy.swallowedReplies();
      proxy.cutBeforeReplyTo(bytes -> request.test(new String(bytes, StandardCharsets.ISO_8859_1)));
      Await.until("a reply to " + what + " is swallowed", REPLY_BOUND, () -> proxy.swallowedReplies() > before);
    });
  }

  Rig.Result result() {
    return Objects.requireNonNull(result);
  }

  @Test
  void allPromisesAreKept() {
    assertThat(result().verdict().violations()).isEmpty();
    assertThat(result().verdict().ok()).isTrue();
    assertThat(result().verdict().counts().open()).isZero();
    assertThat(result().verdict().counts().lost()).isZero();
  }

  @Test
  void noTaskThatWasAckedIsForgotten() {
    assertThat(result().forgotten()).isEmpty();
  }

  @Test
  void duplicatesComeOnlyAroundAFault() {
    assertThat(result().verdict().counts().duplicatesOutsideFaults()).isZero();
  }

  @Test
  void failedCallsReportUnavailableOrUnknownOutcome() {
    assertThat(mistakes).isEmpty();
    assertThat(recoveries).filteredOn(FaultRun.Recovery::isOutage)
        .allSatisfy(
            recovery -> assertThat(recovery.refused() + recovery.unknown()).as(recovery.toString()).isPositive());
    assertThat(recoveries.stream().mapToLong(FaultRun.Recovery::refused).sum()).isPositive();
  }

  @Test
  void serversAreNotReadyWhileNothingCanBeWritten() {
    assertThat(recoveries).filteredOn(FaultRun.Recovery::isOutage)
        .allSatisfy(recovery -> assertThat(recovery.wasDown()).as(recovery.toString()).isTrue());
  }

  @Test
  void enoughWasDelivered() {
    assertThat(result().verdict().counts().delivered()).isGreaterThan(100L * Math.max(1, ROUNDS));
  }
}
