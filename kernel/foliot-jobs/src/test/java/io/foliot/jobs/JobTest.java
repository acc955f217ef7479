package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Misfire;
import io.foliot.api.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Refusals of invalid definitions. The message names the setting and the values that are permitted. */
final class JobTest {
  private static Job.Builder job() {
    return Job.named("report").queue("billing");
  }

  private static void ensureRefused(Runnable make, String... parts) {
    assertThatThrownBy(make::run).isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll(parts);
  }

  @Test
  void aWrongCronNamesTheFieldTheRangeAndAnExample() {
    ensureRefused(() -> job().cron("61 * * * *").build(), "minute", "0", "59");
    ensureRefused(() -> JobChange.create(job().cron("0 0 31 2 *").build(), 0, JobWorld.NO_CALENDARS), "day of month",
        "0 0 L * *");
    ensureRefused(() -> job().cron("* * * *").build(), "5 fields", "0 2 * * MON-FRI");
    ensureRefused(() -> job().cron("0 0 10 ? * 2").build(), "dialect");
  }

  @Test
  void anUnknownZoneIsRefusedWithTheNearestNames() {
    ensureRefused(() -> job().cron("0 2 * * *").timeZone("Europe/Berln").build(), "zone", "Europe/Berlin");
    ensureRefused(() -> job().cron("0 2 * * *").timeZone("CST").build(), "zone", "America/Chicago");
  }

  @Test
  void impossibleTimesAndAMissingQueueAreRefused() {
    ensureRefused(() -> job().every(Duration.ZERO).build(), "every", "100ms", "30m");
    ensureRefused(() -> job().after(Duration.ofMinutes(-1)).build(), "after");
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    ensureRefused(() -> JobChange.create(job().at(now.minusSeconds(1)).build(), now.toEpochMilli(),
        JobWorld.NO_CALENDARS), "at", "after now");
    ensureRefused(() -> job().cron("0 2 * * *").schedule(s -> s.from(now).to(now.minusSeconds(1))).build(), "to",
        "from");
    ensureRefused(() -> job().build(), "schedule");
    ensureRefused(() -> Job.named("report").every(Duration.ofHours(1)).build(), "queue");
  }

  @Test
  void sizesOutOfRangeAreRefusedWithTheLimit() {
    Job.Builder job = job().every(Duration.ofHours(1));
    ensureRefused(() -> job.shards(0).build(), "shards", "1", "10000", "got 0");
    ensureRefused(() -> job.shards(10_001).build(), "shards", "10000", "got 10001");
    ensureRefused(() -> job.shards(1, "a", "b").build(), "shardParameters", "shards=1", "got 2");
    ensureRefused(() -> job.shards(2, "x".repeat(13_000), "x".repeat(13_000)).build(), "shardParameters", "24576");
    job.shards(1);
    Body large = new Body(new byte[17 << 10], "application/json", Map.of());
    ensureRefused(() -> job.parameter(large).build(), "parameter", "16384", "17408");
    Body most = new Body(new byte[16 << 10], "application/json", Map.of());
    assertThat(job.parameter(most).build().parameter()).isEqualTo(most);
    ensureRefused(() -> job.shards(1_025).build(), "parameter", "16777216");
    job.shards(513).scope(Scope.PER_ZONE).zones("a");
    assertThat(job.build().shards()).isEqualTo(513);
    ensureRefused(() -> job.zones("a", "b").build(), "parameter", "16777216", "got 16809984");
    ensureRefused(() -> job.zones("a b").build(), "zones", "A-Z a-z 0-9 . _ -", "got a b");
    job.parameter(Body.EMPTY).shards(1).scope(Scope.ONE).zones();
    ensureRefused(() -> job.timeout(Duration.ofHours(25)).build(), "timeout", "24 h");
    ensureRefused(() -> job.timeout(Duration.ZERO).build(), "timeout", "above 0");
    job.timeout(null);
    ensureRefused(() -> job.history(201).build(), "history", "200");
    ensureRefused(() -> job.history(0).build(), "history", "1");
    job.history(1);
    ensureRefused(() -> job.pauseAfterFailures(-1).build(), "pauseAfterFailures", "1000");
    ensureRefused(() -> Misfire.all(101, Duration.ZERO), "misfire.max", "100");
    ensureRefused(() -> Misfire.once(Duration.ofDays(367)), "misfire.window", "366");
  }

  @Test
  void anAllocatorBelongsToTheAllocationOwn() {
    Supplier<Job.Builder> job = () -> job().every(Duration.ofMinutes(1));
    assertThat(job.get().allocator("by-region").build().allocation()).isEqualTo(Allocation.OWN);
    assertThat(job.get().allocator("by-region").build().allocator()).isEqualTo("by-region");
    ensureRefused(() -> job.get().allocator("by-region").allocation(Allocation.HASH).build(),
        "allocator: expected none, unless the allocation is own, but got \"by-region\"");
    ensureRefused(() -> job.get().allocation(Allocation.OWN).build(),
        "allocator: expected the name of an allocator of the application, because the allocation is own: 1 to 64 of"
            + " A-Z a-z 0-9 . _ -, but got \"\"");
    for (String name : List.of("a b", "a/b", "x".repeat(65), "\u00e4")) {
      ensureRefused(() -> job.get().allocator(name).build(), "allocator: expected the name of an allocator");
    }
    ensureRefused(() -> job.get().scope(Scope.ALL).allocator("by-region").build(),
        "allocation: expected a rule other than own with scope all");
  }

  @Test
  void aRefusalHasItsPartsAsValues() {
    assertThatThrownBy(() -> job().every(Duration.ofHours(1)).shards(1, "a", "b").build())
        .isInstanceOfSatisfying(InvalidSettingException.class, refused -> {
          assertThat(refused.setting()).isEqualTo("shardParameters");
          assertThat(refused.expected()).isEqualTo("at most as many texts as shards=1");
          assertThat(refused.found()).isEqualTo("2");
        });
  }

  @Test
  void invalidNamesOfJobsAndQueuesAreRefused() {
    ensureRefused(() -> Job.named("x".repeat(300)).queue("billing").every(Duration.ofHours(1)).build(), "job:",
        "256 bytes", "xxx...");
    ensureRefused(() -> Job.named("x").queue("a b").every(Duration.ofHours(1)).build(), "queue:", "a b");
  }

  /** A shard has its parameter in a header, and the headers of a shard have the limits of any submission. */
  @Test
  void headersThatNoTaskMayCarryAreRefused() {
    Job.Builder job = job().every(Duration.ofHours(1));
    ensureRefused(() -> job.shards(1, "a\r\nfoliot-job: other").build(), "shardParameters", "control");
    ensureRefused(() -> job.shards(1, "x".repeat(8_000)).build(), "shardParameters", "4096");
    job.shards(1);
    ensureRefused(() -> job.parameter(new Body(new byte[0], "text/plain", Map.of("x", "y".repeat(4_000)))).build(),
        "headers");
  }

  @Test
  void anyCronTextIsRefusedOrParsed() {
    Random random = new Random(7);
    String letters = "0123456789*/-,?LW#HMONJAN @ ";
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int left = random.nextInt(24); left > 0; left--) {
        text.append(letters.charAt(random.nextInt(letters.length())));
      }
      try {
        assertThat(job().cron(text.toString()).build().schedule().cron()).isNotNull();
      } catch (IllegalArgumentException e) {
        assertThat(e.getMessage()).as("the refusal of '%s'", text).isNotBlank();
      }
    }
  }
}
