package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.Scope;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.client.JobResult;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.jdbc.JdbcStore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests jobs that run on each node or in each zone. The nodes share a database, or one node keeps tasks in memory. */
final class ScopesOfNodesTest {
  private static final Duration BOUND = Duration.ofSeconds(90);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final List<String> ZONES = List.of("fra1", "nyc2");

  private static PostgresServer server;

  private Database database;

  private final Set<String> places = ConcurrentHashMap.newKeySet();

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void createDatabase() {
    database = server.createDatabase();
  }

  private Foliot node(String zone) {
    // Each node has a connection pool, because opening a connection takes longer than a call.
    return Foliot.builder().node("node-" + zone).zone(zone).allocator("by-parameter", AllocatorTest::byParameter).on(
        JdbcStore.open(
            JdbcOptions.builder(database.jdbcUrl(), database.user(), database.password()).connections(3).build()));
  }

  private void awaitPlaces(String... expected) {
    Await.until("all of " + List.of(expected), BOUND, () -> places.containsAll(List.of(expected)));
  }

  private void handle(Foliot foliot, String place) {
    foliot.tasks("handled", String.class).handle((text, attempt) -> {
      JobRun job = Objects.requireNonNull(attempt.run());
      places.add(job.job() + " at " + place + ", zone " + job.zone() + ", one of " + job.shards());
    });
  }

  private static void putJobs(Foliot foliot, String... zones) {
    foliot.jobs().put(Job.named("each").queue("handled").every(SECOND).scope(Scope.ALL));
    foliot.jobs().put(Job.named("zones").queue("handled").every(SECOND).scope(Scope.PER_ZONE).zones(zones));
  }

  @Test
  void handlersOfTasksRunJobsOfScopesAllAndPerZone() {
    try (Foliot one = node("fra1"); Foliot other = node("nyc2"); Foliot none = node("none")) {
      handle(one, "fra1");
      handle(other, "nyc2");
      putJobs(none, "fra1", "nyc2");
      awaitPlaces("each at fra1, zone null, one of 2", "each at nyc2, zone null, one of 2",
          "zones at fra1, zone fra1, one of 1", "zones at nyc2, zone nyc2, one of 1");
      assertThat(places).as("no shard of a zone runs in the other zone")
          .doesNotContain("zones at fra1, zone nyc2, one of 1", "zones at nyc2, zone fra1, one of 1");
    }
  }

  @Test
  void workersOfAllNodesAreOneFleet() {
    try (Foliot one = node("fra1")) {
      try (Foliot other = node("nyc2")) {
        for (String zone : ZONES) {
          Foliot foliot = zone.equals("fra1") ? one : other;
          foliot.workers().of("billing")
              .declare(Job.named("each").every(SECOND).scope(Scope.ALL))
              .declare(Job.named("zones").every(SECOND).scope(Scope.PER_ZONE).zones("fra1", "nyc2"))
              .handle("each", job -> {
                places.add("each at " + zone + ", one of " + job.shards());
                return JobResult.done();
              }).handle("zones", job -> {
                places.add("zones at " + zone);
                return JobResult.done();
              }).start();
        }
        awaitPlaces("each at fra1, one of 2", "each at nyc2, one of 2", "zones at fra1", "zones at nyc2");
      }
      places.clear();
      awaitPlaces("each at fra1, one of 1");
    }
  }

  @Test
  void anAllocatorDividesShardsAmongTheWorkersOfAllNodes() {
    try (Foliot one = node("fra1"); Foliot other = node("nyc2")) {
      for (String zone : ZONES) {
        Foliot foliot = zone.equals("fra1") ? one : other;
        foliot.workers().of("billing").name("worker-" + zone).handle("report", job -> {
          places.add("shard " + job.shard() + " at " + zone);
          return JobResult.done();
        }).start();
      }
      // No run begins until each worker named in a parameter is live.
      one.jobs().put(Job.named("report").queue("billing").every(SECOND).allocator("by-parameter")
          .shards(3, "worker-nyc2", "worker-fra1", "worker-nyc2"));
      awaitPlaces("shard 0 at nyc2", "shard 1 at fra1", "shard 2 at nyc2");
      assertThat(places).hasSize(3);
    }
  }

  @Test
  void aNodeWithoutAZoneIsInTheEmptyZone() {
    try (Foliot foliot = Foliot.inMemory()) {
      handle(foliot, "here");
      putJobs(foliot);
      awaitPlaces("each at here, zone null, one of 1", "zones at here, zone null, one of 1");
    }
  }

  @Test
  void aRunWaitsForAZoneWithoutANode() {
    try (Foliot foliot = Foliot.inMemory()) {
      handle(foliot, "here");
      foliot.jobs().put(Job.named("zones").queue("handled").every(SECOND).scope(Scope.PER_ZONE).zones("fra1"));
      Await.until("the job shows the zone that it waits for", BOUND,
          () -> foliot.jobs().find("zones").orElseThrow().waitsFor().equals("waits for a worker in zone fra1"));
    }
    assertThat(places).isEmpty();
  }
}
