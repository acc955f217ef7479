package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.Job;
import io.foliot.client.JobView;
import io.foliot.server.FoliotServer;
import java.net.URI;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.stream.Stream;

/** A job of one second, and the account of its scheduled times over servers that come and go. */
final class JobAccount {
  private static final String NAME = "tick";

  private JobAccount() {}

  /** Puts the job into a queue. */
  static void put(FoliotServer server, String queue) {
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      client.putJob(Job.named(NAME).queue(queue).every(Duration.ofSeconds(1)).build());
    }
  }

  /** Waits until further times have come; then each of the job's times must have exactly one run or record. */
  static void assertGoesOn(FoliotServer server) {
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      long before = accounted(client.getJob(NAME));
      Await.until("further times come", Duration.ofSeconds(30),
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
