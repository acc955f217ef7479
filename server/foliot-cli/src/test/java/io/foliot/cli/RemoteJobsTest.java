package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.RedisServer;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests recurring jobs through the commands of the CLI. For some tests, two servers share a PostgreSQL, a MariaDB or a
 * Redis. One test moves the jobs from store to store, and starts a server for each store.
 */
@Tag("long")
final class RemoteJobsTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  @TempDir
  private Path folder = Path.of("");

  /** A store: the flags of its servers, and its address and login for {@code migrate}. */
  private record Store(String name, String address, Map<String, String> flags, String user, String password) {
    static Store folder(String name, Path path) {
      return new Store(name, "rocksdb:" + path, Map.of("data", path.toString()), "", "");
    }

    static Store database(String name, Database database) {
      return new Store(name, database.jdbcUrl(), Map.of("store", database.jdbcUrl(), "store-user", database.user(),
          "store-password", database.password()), database.user(), database.password());
    }

    static Store redis(RedisServer redis) {
      return new Store("redis", redis.uri().toString(), Map.of("store", redis.uri().toString()), "", "");
    }

    FoliotServer start() {
      Map<String, String> all = new HashMap<>(flags);
      all.put("port", "0");
      all.put("log-level", "error");
      return FoliotServer.start(FoliotConfig.load(all, Map.of(), null),
          new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
    }

    void moveTo(Store target) {
      Outcome moved = Outcome.of(Map.of("FOLIOT_FROM_USER", user, "FOLIOT_FROM_PASSWORD", password, "FOLIOT_TO_USER",
          target.user, "FOLIOT_TO_PASSWORD", target.password), "migrate", "--from", address, "--to", target.address);
      assertThat(moved.exitCode()).as("from %s to %s: %s", name, target.name, moved.err()).isEqualTo(ExitCode.OK);
    }
  }

  private static String run(FoliotServer server, String... words) {
    Outcome outcome = Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome.out();
  }

  private static JsonView job(FoliotServer server, String name) {
    return JsonView.parse(run(server, "jobs", "get", name, "--json"));
  }

  private static long fired(FoliotServer server, String name) {
    return job(server, name).at("totals", "fired").number();
  }

  /** Returns the number of waiting and active runs of a job. */
  private static long requested(FoliotServer server, String name) {
    JsonView job = job(server, name);
    return job.at("waiting").number() + job.at("active").items().size();
  }

  /** Asserts that each change through either of two servers is immediately visible through both. */
  private static void assertChangesAreVisibleAtOnce(Store store) {
    try (FoliotServer first = store.start(); FoliotServer second = store.start()) {
      run(first, "queues", "put", "orders", "--pull");
      run(second, "jobs", "put", "report", "--queue", "orders", "--cron", "0 2 1 * *");
      assertThat(job(first, "report").at("state").text()).isEqualTo("ACTIVE");

      run(first, "jobs", "put", "report", "--queue", "orders", "--cron", "0 3 1 * *");
      assertThat(job(second, "report").at("schedule", "cron").text()).isEqualTo("0 3 1 * *");
      assertThat(job(second, "report").at("nextTimes").items()).allMatch(time -> time.text().contains("T03:00"));

      run(second, "jobs", "pause", "report", "--reason", "month end");
      assertThat(job(first, "report").at("pause", "reason").text()).isEqualTo("month end");

      String[] range = {"jobs", "backfill", "report", "--from", "2024-01-01T00:00:00Z", "--to", "2024-03-02T00:00:00Z"};
      String[] dry = {range[0], range[1], range[2], range[3], range[4], range[5], range[6], "--dry-run"};
      List<String> times = run(first, dry).lines().skip(1).toList();
      assertThat(times).hasSize(3);
      assertThat(requested(second, "report")).isZero();
      assertThat(run(first, range).lines().skip(1).toList()).isEqualTo(times);
      assertThat(requested(second, "report")).isEqualTo(3);

      String time = run(second, "jobs", "trigger", "report").strip().replace("report runs for ", "");
      assertThat(requested(first, "report")).isEqualTo(4);
      Await.until("the backfill begins", BOUND, () -> !job(first, "report").at("active").items().isEmpty());

      run(first, "jobs", "stop", "report", time);
      assertThat(run(second, "jobs", "runs", "report")).containsPattern(time + ".*STOPPED");
      String begun = job(second, "report").at("active").items().getFirst().at("time").text();
      run(second, "jobs", "stop", "report", begun);
      assertThat(run(first, "jobs", "runs", "report")).containsPattern(begun + ".*STOPP(ING|ED)");

      run(first, "jobs", "resume", "report");
      assertThat(job(second, "report").at("state").text()).isEqualTo("ACTIVE");
      run(second, "jobs", "delete", "report", "--cancel-runs");
      assertThat(Outcome.of(Map.of("FOLIOT_URL", first.url()), "jobs", "get", "report").err())
          .contains("no job report");
      assertThat(run(first, "jobs")).contains("there are no such jobs");

      assertAPauseHoldsOnBoth(first, second);
    }
  }

  private static void assertAPauseHoldsOnBoth(FoliotServer first, FoliotServer second) {
    run(first, "jobs", "put", "tick", "--queue", "orders", "--every", "1s", "--overlap", "allow");
    Await.until("the job fires", BOUND, () -> fired(second, "tick") >= 2);
    run(second, "jobs", "pause", "tick");
    long before = fired(first, "tick");
    Await.pause(2_500);
    assertThat(fired(first, "tick")).isEqualTo(before);
    assertThat(fired(second, "tick")).isEqualTo(before);
    run(first, "jobs", "delete", "tick");
  }

  @Test
  void changesAreVisibleOnBothServersOfPostgreSql() {
    try (PostgresServer postgres = PostgresServer.start()) {
      assertChangesAreVisibleAtOnce(Store.database("postgresql", postgres.createDatabase()));
    }
  }

  @Test
  void changesAreVisibleOnBothServersOfMariaDb() {
    try (MariaDbServer mariadb = MariaDbServer.start()) {
      assertChangesAreVisibleAtOnce(Store.database("mariadb", mariadb.createDatabase()));
    }
  }

  @Test
  void changesAreVisibleOnBothServersOfRedis() {
    try (RedisServer redis = RedisServer.start()) {
      assertChangesAreVisibleAtOnce(Store.redis(redis));
    }
  }

  /**
   * Checks in each store that a job with a period of one second accounts for all its scheduled times, and that a paused
   * job is unchanged.
   */
  @Test
  void jobsContinueInEachStoreThatTheyAreMovedTo() {
    try (PostgresServer postgres = PostgresServer.start();
        MariaDbServer mariadb = MariaDbServer.start();
        RedisServer redis = RedisServer.start()) {
      List<Store> stores = List.of(Store.folder("rocksdb", folder.resolve("data")),
          Store.database("postgresql", postgres.createDatabase()),
          Store.database("mariadb", mariadb.createDatabase()), Store.redis(redis),
          Store.folder("rocksdb again", folder.resolve("back")));
      String paused = "";
      for (int i = 0; i < stores.size(); i++) {
        Store store = stores.get(i);
        if (i > 0) {
          stores.get(i - 1).moveTo(store);
        }
        try (FoliotServer server = store.start()) {
          if (i == 0) {
            paused = putJobs(server);
          }
          JobAccount.assertContinues(server);
          assertThat(run(server, "jobs", "get", "report", "--json")).as(store.name).isEqualTo(paused);
          assertThat(run(server, "jobs", "runs", "report")).as(store.name).contains("STOPPED");
          assertThat(run(server, "calendars")).as(store.name).contains("holidays", "12-25");
        }
      }
    }
  }

  private static String putJobs(FoliotServer server) {
    run(server, "queues", "put", "orders", "--pull");
    JobAccount.put(server, "orders");
    run(server, "calendars", "put", "holidays", "SAT", "SUN", "12-25");
    run(server, "jobs", "put", "report", "--queue", "orders", "--cron", "0 2 1 1 *", "--zone", "Europe/Berlin",
        "--exclude", "holidays", "--shards", "3", "--shard-parameters", "eu,us", "--parameter", "{\"kind\": 1}");
    String time = run(server, "jobs", "trigger", "report").strip().replace("report runs for ", "");
    run(server, "jobs", "stop", "report", time);
    Await.until("the run is stopped", BOUND, () -> run(server, "jobs", "runs", "report").contains("STOPPED"));
    run(server, "jobs", "pause", "report", "--reason", "it is moved");
    Await.until("no pass changes the job any more", BOUND, () -> job(server, "report").at("active").items().isEmpty());
    return run(server, "jobs", "get", "report", "--json");
  }
}
