package io.foliot.kill;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.RedisServer;
import io.foliot.backends.TcpProxy;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One server with recurring jobs, killed repeatedly while the jobs fire and while the test changes them. To choose the
 * number of kills, the number of jobs and the store:
 * {@code mvn verify -pl :foliot-kill -am -Dtest=JobKillTest -Dsurefire.failIfNoSpecifiedTests=false -Dkills=25
 * -Djobs=200 -Dstore=postgresql}. The store may also be {@code rocksdb}, {@code mariadb} or {@code redis}. Each job
 * fires ten times a second.
 *
 * <p>For each job the test checks that the totals count each scheduled time up to the pause once: as fired, skipped,
 * missed or waiting. As many scheduled times must have reached the receiver as the totals count as fired. No scheduled
 * time may have two firings, and no firing may be early.
 */
@Tag("repeated")
class JobKillTest {
  private static final int OVERLOADED = 503;
  private static final int KILLS = Integer.getInteger("kills", 1);
  private static final int JOBS = Integer.getInteger("jobs", 10);
  private static final Duration PERIOD = Duration.ofMillis(100);
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final int MIN_PAUSE_MILLIS = 500;
  private static final int MAX_PAUSE_MILLIS = 2_500;
  private static final Pattern SINCE = Pattern.compile("\"since\":\"([^\"]+)\"");
  private static final Pattern CREATED = Pattern.compile("\"createdAt\":\"([^\"]+)\"");
  private static final Pattern NEXT = Pattern.compile("\"nextTimes\":\\[\"([^\"]+)\"");

  private final HttpClient http = HttpClient.newHttpClient();
  private final SplittableRandom random = new SplittableRandom(Rig.seed());

  @TempDir
  Path folder;

  private interface Trial {
    void over(StoreChoice store) throws IOException, InterruptedException;
  }

  private void onChosenStore(Trial trial) throws IOException, InterruptedException {
    switch (System.getProperty("store", "rocksdb")) {
      case "rocksdb" -> trial.over(StoreChoice.folder(folder.resolve("data")));
      case "postgresql" -> {
        try (PostgresServer server = PostgresServer.start()) {
          trial.over(StoreChoice.database(server.createDatabase()));
        }
      }
      case "mariadb" -> {
        try (MariaDbServer server = MariaDbServer.start()) {
          trial.over(StoreChoice.database(server.createDatabase()));
        }
      }
      case "redis" -> {
        try (RedisServer redis = RedisServer.start(Map.of("appendfsync", "always"));
            TcpProxy proxy = TcpProxy.to(redis)) {
          trial.over(StoreChoice.redis(proxy));
        }
      }
      default -> throw new IllegalArgumentException("store: expected rocksdb, postgresql, mariadb or redis");
    }
  }

  @Test
  void eachScheduledTimeFiresOnceOrIsAccountedFor() throws IOException, InterruptedException {
    onChosenStore(store -> {
      try (JobReceiver receiver = new JobReceiver();
          ServerProcess server = new ServerProcess(store, ServerHost.LOOPBACK, folder.resolve("server.log"))) {
        server.start();
        server.awaitReady();
        send(server, "PUT", "/v1/queues/jobs", "{\"delivery\": {\"type\": \"http\", \"url\": \"" + receiver.url()
            + "\"}, \"retry\": {\"maxAttempts\": 100, \"backoff\": \"100ms\", \"maxBackoff\": \"1s\"}}");
        for (int job = 0; job < JOBS; job++) {
          put(server, job, 0);
        }
        for (int kill = 1; kill <= KILLS; kill++) {
          Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
          put(server, random.nextInt(JOBS), kill);
          server.kill();
          server.start();
          server.awaitReady();
        }
        Await.pause(MAX_PAUSE_MILLIS);
        judge(server, receiver);
      }
    });
  }

  private String put(ServerProcess server, int job, int parameter) throws IOException, InterruptedException {
    return send(server, "PUT", "/v1/jobs/job-" + job, "{\"queue\": \"jobs\", \"schedule\": {\"every\": \"100ms\"},"
        + " \"overlap\": \"allow\", \"misfire\": {\"policy\": \"all\", \"max\": 20, \"window\": \"1h\"},"
        + " \"parameter\": " + parameter + "}");
  }

  private void judge(ServerProcess server, JobReceiver receiver) throws IOException, InterruptedException {
    long firedInAll = 0;
    for (int job = 0; job < JOBS; job++) {
      String path = "/v1/jobs/job-" + job;
      Instant since = instant(SINCE, send(server, "POST", path + "/pause", "{}"));
      String status = ended(server, path);
      Map<Instant, Set<String>> firings = receiver.firings("job-" + job);
      long fired = number("fired", status);
      long times = times(instant(CREATED, status), since, instant(NEXT, status));
      long undecided = number("waiting", status);
      assertThat(fired + undecided + number("skipped", status) + number("missed", status))
          .as("times of %s: %s", path, status)
          .isEqualTo(times);
      assertThat(firings).as("fired times of %s: %s", path, status).hasSize(Math.toIntExact(fired));
      assertThat(firings.values()).as("firings of one time").allSatisfy(ids -> assertThat(ids).hasSize(1));
      assertThat(number("failed", status)).as(status).isZero();
      firedInAll += fired;
    }
    assertThat(receiver.early()).isZero();
    assertThat(firedInAll).isGreaterThan(JOBS * 5L * KILLS);
    System.out.println("[jobs] " + KILLS + " kills, " + JOBS + " jobs: " + firedInAll + " times fired, "
        + receiver.callbacks() + " callbacks");
  }

  private static String ended(ServerProcess server, String path) {
    long end = System.nanoTime() + BOUND.toNanos();
    String status = server.get(path);
    while (!status.contains("\"active\":[]")) {
      assertThat(System.nanoTime() - end).as("the runs of a job end: %s", status).isNegative();
      Await.pause(50);
      status = server.get(path);
    }
    return status;
  }

  /**
   * Returns the number of scheduled times after the creation of a job, up to and including its pause.
   *
   * @param anyTime any scheduled time of the job
   */
  private static long times(Instant created, Instant pause, Instant anyTime) {
    long period = PERIOD.toMillis();
    long phase = Math.floorMod(anyTime.toEpochMilli(), period);
    return Math.floorDiv(pause.toEpochMilli() - phase, period)
        - Math.floorDiv(created.toEpochMilli() - phase, period);
  }

  private static long number(String name, String json) {
    Matcher matcher = Pattern.compile("\"" + name + "\":(\\d+)").matcher(json);
    assertThat(matcher.find()).as("%s in %s", name, json).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  private static Instant instant(Pattern pattern, String json) {
    Matcher matcher = pattern.matcher(json);
    assertThat(matcher.find()).as("%s in %s", pattern, json).isTrue();
    return OffsetDateTime.parse(matcher.group(1)).toInstant();
  }

  /** Sends a request, and repeats it for up to {@link #BOUND} while the server answers 503. Returns the body. */
  private String send(ServerProcess server, String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(server.url().resolve(path)).timeout(BOUND)
        .header("Content-Type", "application/json").method(method, BodyPublishers.ofString(body, UTF_8)).build();
    long end = System.nanoTime() + BOUND.toNanos();
    HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
    while (answer.statusCode() == OVERLOADED && System.nanoTime() - end < 0) {
      Await.pause(100);
      answer = http.send(request, BodyHandlers.ofString());
    }
    assertThat(answer.statusCode()).as("%s %s: %s", method, path, answer.body()).isBetween(200, 299);
    return answer.body();
  }
}
