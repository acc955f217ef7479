package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.TaskStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Tests a shared store that comes back empty, as Redis without persistence does: the servers never become open, and
 * they say what happened.
 */
final class LostStoreTest {
  private static final String ADMIN = "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}";

  @TempDir
  private Path folder;

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger log = (Logger) LoggerFactory.getLogger("io.foliot.server");

  @BeforeEach
  void listen() {
    lines.start();
    log.addAppender(lines);
  }

  @AfterEach
  void detach() {
    log.detachAppender(lines);
  }

  /** A store that servers share, and whose documents a test can hide from the servers. */
  private static final class Losing extends ForwardingStore {
    volatile boolean isLost;

    Losing(TaskStore delegate) {
      super(delegate);
    }

    @Override
    public boolean isShared() {
      return true;
    }

    @Override
    public CompletionStage<List<Document>> documents(DocumentKind kind) {
      return isLost ? CompletableFuture.completedFuture(List.of()) : super.documents(kind);
    }

    @Override
    public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
      return isLost ? CompletableFuture.completedFuture(Optional.empty()) : super.document(kind, name);
    }
  }

  private Rig start(Losing[] store, String... flags) {
    Map<String, String> all = new HashMap<>(Map.of("data", folder.toString()));
    for (int i = 0; i < flags.length; i += 2) {
      all.put(flags[i], flags[i + 1]);
    }
    return Rig.over(all, real -> store[0] = new Losing(real));
  }

  private List<String> errors() {
    return List.copyOf(lines.list).stream().filter(line -> line.getLevel() == Level.ERROR)
        .map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void aServerThatHasHadKeysNeverOpens() {
    Losing[] store = new Losing[1];
    String admin;
    try (Rig rig = start(store)) {
      assertThat(rig.get("/v1/queues").status()).isEqualTo(200);
      admin = rig.post("/v1/keys", ADMIN).text("key");
      assertThat(rig.get("/v1/queues").status()).isEqualTo(401);
      store[0].isLost = true;
      // The key is refused as soon as the server has read the keys again.
      Rig.eventually(() -> rig.as(admin).get("/v1/queues"), answer -> answer.status() != 200);
      Rig.Answer foreign = rig.as(null).put("/v1/queues/evil", "{\"delivery\": {\"type\": \"pull\"}}");
      assertThat(foreign.status()).as(foreign.body()).isEqualTo(401);
      Rig.eventually(() -> rig.get("/health/live"),
          answer -> errors().stream().anyMatch(line -> line.contains("API keys have gone")));
    }
    // The next start is over an empty store.
    try (Rig rig = start(store)) {
      assertThat(rig.get("/v1/queues").status()).isEqualTo(401);
      String issued = rig.printed().lines().map(String::strip).filter(line -> line.startsWith("flt_")).findFirst()
          .orElseThrow();
      assertThat(rig.as(issued).get("/v1/queues").status()).isEqualTo(200);
      assertThat(errors()).anySatisfy(line -> assertThat(line).contains("has had API keys", "--access"));
    }
    // Only the operator opens it.
    try (Rig rig = start(store, "access", "open")) {
      assertThat(rig.get("/v1/queues").status()).isEqualTo(200);
    }
    try (Rig rig = start(store)) {
      assertThat(rig.get("/v1/queues").status()).isEqualTo(200);
    }
  }

  @Test
  void aServerMayNeedKeysFromItsFirstStart() {
    try (Rig rig = start(new Losing[1], "access", "keys")) {
      assertThat(rig.printed()).contains("flt_");
      assertThat(rig.get("/v1/queues").status()).isEqualTo(401);
    }
  }

  @Test
  void aStoreThatLostEverythingIsNoticed() {
    Losing[] store = new Losing[1];
    try (Rig rig = start(store)) {
      assertThat(rig.get("/health/ready").status()).isEqualTo(200);
      store[0].isLost = true;
      Rig.Answer down = rig.eventually("/health/ready", answer -> answer.status() == 503);
      assertThat(down.list("reasons")).singleElement().asString().contains("store", "lost");
      assertThat(errors()).anySatisfy(line -> assertThat(line).contains("identity"));
      // For example, a replica without data was the master for a moment.
      store[0].isLost = false;
      rig.eventually("/health/ready", answer -> answer.status() == 200);
    }
    assertThat(errors()).hasSize(1);
  }

  @Test
  void aStartOnAnotherStoreIsNoticed() {
    start(new Losing[1]).close();
    assertThat(lines.list).noneMatch(line -> line.getFormattedMessage().contains("identity"));
    start(new Losing[1]).close();
    assertThat(lines.list).anySatisfy(line -> {
      assertThat(line.getLevel()).isEqualTo(Level.WARN);
      assertThat(line.getFormattedMessage()).contains("identity", folder.toString());
    });
    assertThat(Files.exists(folder.resolve("keys-required"))).isFalse();
  }
}
