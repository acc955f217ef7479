package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.history.Event;
import io.foliot.history.HistoryChecker;
import io.foliot.history.Verdict;
import io.foliot.history.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One server, killed repeatedly under load. To choose the number of kills and the seed:
 * {@code mvn verify -pl :foliot-kill -am -Dtest=io.foliot.kill.KillTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Dkills=100 -Dseed=1}.
 */
@Tag("repeated")
class KillTest {
  private static final int KILLS = Integer.getInteger("kills", 1);
  private static final int MIN_PAUSE_MILLIS = 300;
  private static final int MAX_PAUSE_MILLIS = 3_000;

  /** One in this many kills, on average, is followed by another kill, less than 2 s after the server was started. */
  private static final int STARTS_PER_KILL = 8;
  private static final int MAX_START_MILLIS = 2_000;
  private static final Duration BOUND = Duration.ofSeconds(30);

  private static Rig.@Nullable Result result;
  private static List<Event> events = List.of();

  @BeforeAll
  static void killAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    try (Rig rig = new Rig("kill", seed, Rig.folder("kill", seed))) {
      long begun = System.nanoTime();
      rig.load();
      for (int kill = 1; kill <= KILLS; kill++) {
        Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
        boolean twice = kill < KILLS && random.nextInt(STARTS_PER_KILL) == 0;
        int startMillis = random.nextInt(MAX_START_MILLIS);
        rig.during(Event.Fault.KILL, "kill " + kill, () -> {
          rig.server.kill();
          rig.server.start();
          if (twice) {
            Await.pause(startMillis);
            rig.server.kill();
            rig.server.start();
          }
          rig.server.awaitReady();
        });
        kill += twice ? 1 : 0;
      }
      Await.pause(MIN_PAUSE_MILLIS);
      Await.until("the history has events that can be falsified", BOUND,
          () -> TamperedHistory.canFalsify(rig.history.events()));
      result = rig.judge();
      events = rig.history.events();
      rig.say(KILLS + " kills in " + (System.nanoTime() - begun) / 1_000_000_000 + " s, with starts and pauses");
    }
  }

  private static Verdict verdict() {
    return Objects.requireNonNull(result).verdict();
  }

  @Test
  void allPromisesAreKept() {
    assertThat(verdict().violations()).isEmpty();
    assertThat(verdict().ok()).isTrue();
    assertThat(verdict().counts().open()).isZero();
    assertThat(verdict().counts().lost()).isZero();
  }

  @Test
  void noTaskThatWasAckedIsForgotten() {
    assertThat(Objects.requireNonNull(result).forgotten()).isEmpty();
  }

  @Test
  void duplicatesComeOnlyAroundAKill() {
    assertThat(verdict().counts().duplicatesOutsideFaults()).isZero();
  }

  @Test
  void theRunCoversTheRelevantCases() {
    Verdict.Counts counts = verdict().counts();
    assertThat(counts.delivered()).isGreaterThan(20L * KILLS);
    assertThat(counts.cancelled() + counts.superseded()).isPositive();
    // If no outcome is unknown and no delivery is repeated, the kills met an idle server.
    assertThat(counts.unknown() + counts.duplicates()).isPositive();
  }

  @Test
  void aDroppedDeliveryWouldBeFound() {
    assertThat(judge(TamperedHistory.withoutADelivery(events)).total(Violation.Kind.LOST)).isPositive();
  }

  @Test
  void anEarlyDeliveryWouldBeFound() {
    Verdict verdict = judge(TamperedHistory.withAnEarlyDelivery(events));
    // If the task was due at once, its early delivery comes before its submit, and is reported as a GHOST.
    assertThat(verdict.total(Violation.Kind.EARLY) + verdict.total(Violation.Kind.GHOST)).isPositive();
  }

  @Test
  void aDeliveryAfterCancelledWouldBeFound() {
    assertThat(judge(TamperedHistory.withDeliveriesAfterCancelled(events)).total(Violation.Kind.CANCEL)).isPositive();
  }

  @Test
  void anOldGenerationAfterResetWouldBeFound() {
    assertThat(judge(TamperedHistory.withOldGenerations(events)).total(Violation.Kind.STALE)).isPositive();
  }

  private static Verdict judge(List<Event> falsified) {
    return new HistoryChecker(Rig.ALLOWANCES).check(falsified);
  }
}
