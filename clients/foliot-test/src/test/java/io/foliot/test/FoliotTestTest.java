package io.foliot.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.Submitted;
import io.foliot.Tasks;
import io.foliot.api.Cancellation;
import io.foliot.api.Job;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class FoliotTestTest {
  private record Timeout(String order, int amount) {}

  private final FoliotTest foliot = FoliotTest.start();
  private final List<String> ran = new ArrayList<>();

  @AfterEach
  void close() {
    foliot.close();
  }

  private String sinceStart() {
    return Duration.between(Instant.parse("2026-01-01T00:00:00Z"), foliot.now()).toString();
  }

  @Test
  void aTaskFiresWhenTheTestAdvancesTheClock() {
    Tasks<Timeout> timeouts = foliot.tasks("timeouts", Timeout.class)
        .handle((timeout, attempt) -> ran.add(timeout.order() + " " + attempt.key() + " " + sinceStart()));
    Submitted submitted = timeouts.in(Duration.ofMinutes(30)).key("order-7").submit(new Timeout("7", 3));
    assertThat(submitted.dueAt()).isEqualTo(Instant.parse("2026-01-01T00:30:00Z"));
    foliot.advance(Duration.ofMinutes(29));
    assertThat(ran).isEmpty();
    foliot.advance(Duration.ofMinutes(1));
    assertThat(ran).containsExactly("7 order-7 PT30M");
  }

  @Test
  void keysAreTouchedAndCancelledAndHandlersSubmit() {
    Tasks<String> tasks = foliot.tasks("tasks", String.class).handle((text, attempt) -> {
      ran.add(text + " " + sinceStart());
      if (text.equals("first")) {
        foliot.tasks("tasks", String.class).in(Duration.ofSeconds(5)).submit("second");
      }
    });
    tasks.in(Duration.ofSeconds(10)).key("a").submit("first");
    tasks.in(Duration.ofSeconds(10)).key("b").submit("never");
    foliot.advance(Duration.ofSeconds(9));
    assertThat(tasks.key("a").touch(Duration.ofSeconds(10))).isTrue();
    assertThat(tasks.key("b").cancel()).isEqualTo(Cancellation.CANCELLED);
    foliot.advance(Duration.ofSeconds(20));
    assertThat(ran).containsExactly("first PT19S", "second PT24S");
    assertThat(tasks.key("a").touch(Duration.ZERO)).isFalse();
    assertThat(tasks.key("none").cancel()).isEqualTo(Cancellation.NOT_FOUND);
  }

  @Test
  void retriesWithBackoffUntilAttemptsAreUsedUp() {
    foliot.tasks("tasks", String.class).retry(3, Duration.ofSeconds(1)).handle((text, attempt) -> {
      ran.add(attempt.number() + " " + text);
      throw new IllegalStateException("on purpose");
    }).now().submit("x");
    foliot.advance(Duration.ofMillis(700));
    assertThat(ran).containsExactly("1 x");
    foliot.advance(Duration.ofMinutes(5));
    assertThat(ran).containsExactly("1 x", "2 x", "3 x");
  }

  @Test
  void aTaskRunsAgainEverySixHoursOfADay() {
    foliot.tasks("tasks", String.class).handle((text, attempt) -> {
      ran.add(text + " " + sinceStart());
      attempt.again(Duration.ofHours(6));
    }).now().submit("tick");
    foliot.advance(Duration.ofDays(1));
    assertThat(ran).containsExactly("tick PT0S", "tick PT6H", "tick PT12H", "tick PT18H", "tick PT24H");
  }

  @Test
  void aCloseRunsHandlersThatAreDueAndNoOthers() {
    try (FoliotTest closed = FoliotTest.start()) {
      Tasks<String> tasks = closed.tasks("tasks", String.class).handle((text, attempt) -> {
        ran.add(text);
        if (text.equals("fails")) {
          throw new IllegalStateException("on purpose");
        }
        attempt.again(Duration.ZERO);
      });
      tasks.now().submit("due");
      tasks.now().submit("fails");
      tasks.in(Duration.ofSeconds(1)).submit("later");
      closed.jobs().put(Job.named("report").queue("tasks").every(Duration.ofSeconds(1)));
    }
    assertThat(ran).containsExactlyInAnyOrder("due", "fails");
  }

  @Test
  void aHandlerMayCloseTheInstance() {
    FoliotTest closed = FoliotTest.start();
    closed.tasks("tasks", String.class).handle((text, attempt) -> {
      closed.close();
      ran.add(text);
    }).now().submit("x");
    closed.advance(Duration.ZERO);
    assertThat(ran).containsExactly("x");
  }

  @Test
  void workersAreRefusedBecauseTheyHaveThreads() {
    assertThatThrownBy(foliot::workers).isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("Foliot.inMemory()");
  }
}
