package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.JobView;
import io.foliot.server.FoliotServer;
import java.net.URI;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.stream.Stream;

/** A job that runs every second, and a check that successive servers account for all its scheduled times. */
final class JobAccount {
  private static final String NAME = "tick";

  private JobAccount() {}

  /** Creates the job; its shards go to {@code queue}. */
  static void put(FoliotServer server, String queue) {
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      client.putJob(Job.named(NAME).queue(queue).every(Duration.ofSeconds(1)).build());
    }
  }

  /**
   * Waits, at most 30 s, until two more scheduled times are counted. Then asserts that the job has counted all
   * scheduled times since its creation. The numbers may differ by one, because the job keeps running.
   */
  static void assertContinues(FoliotServer server) {
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      long before = accounted(client.getJob(NAME));
      Await.until("two more scheduled times are counted", Duration.ofSeconds(30),
          () -> accounted(client.getJob(NAME)) >= before + 2);
      JobView job = client.getJob(NAME);
      String created = job.json().replaceAll("(?s).*\"createdAt\"\\s*:\\s*\"([^\"]+)\".*", "$1");
      long next = OffsetDateTime.parse(job.nextTimes().getFirst()).toInstant().toEpochMilli();
      long times = (next - 1 - OffsetDateTime.parse(created).toInstant().toEpochMilli()) / 1_000;
      assertThat(accounted(job)).as(job.json()).isBetween(times - 1, times + 1);
    }
  }

  private static long accounted(JobView job) {
    return Stream.of("fired", "skipped", "missed", "paused").mapToLong(what -> job.totals().getOrDefault(what, 0L))
        .sum();
  }
}
