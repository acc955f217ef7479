package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.foliot.core.SystemClock;
import io.foliot.core.Token;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
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

  /** A store that servers share, and whose documents a test can replace by those of an empty store. */
  private static final class Losing extends ForwardingStore {
    private final TaskStore empty = memory();
    volatile boolean isLost;

    Losing(TaskStore delegate) {
      super(delegate);
    }

    private TaskStore current() {
      return isLost ? empty : delegate;
    }

    @Override
    public boolean isShared() {
      return true;
    }

    @Override
    public CompletionStage<List<Document>> documents(DocumentKind kind) {
      return current().documents(kind);
    }

    @Override
    public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
      return current().document(kind, name);
    }

    @Override
    public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
        byte @Nullable [] content) {
      return current().writeDocument(kind, name, expectedVersion, content);
    }
  }

  private static TaskStore memory() {
    AtomicLong tokens = new AtomicLong();
    return new MemoryStore(8, new SystemClock(), () -> new Token(1, tokens.incrementAndGet()));
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
  }

  /** A store whose content outlives its server. */
  private static final class Kept extends ForwardingStore {
    Kept() {
      super(memory());
    }

    @Override
    public boolean isShared() {
      return true;
    }

    @Override
    public void close() {
      // The next start of a test continues with this store.
    }
  }

  private Rig on(Kept store, String... flags) {
    Map<String, String> all = new HashMap<>(Map.of("data", folder.toString()));
    for (int i = 0; i < flags.length; i += 2) {
      all.put(flags[i], flags[i + 1]);
    }
    return Rig.over(all, real -> store);
  }

  private int status(Kept store, String... flags) {
    try (Rig rig = on(store, flags)) {
      return rig.get("/v1/queues").status();
    }
  }

  @Test
  void keysAreRequiredByTheStoresThatHaveHadThem() {
    Kept open = new Kept();
    Kept closed = new Kept();
    Kept unknown = new Kept();
    assertThat(status(open)).isEqualTo(200);
    try (Rig rig = on(closed)) {
      assertThat(rig.post("/v1/keys", ADMIN).status()).isEqualTo(201);
    }
    assertThat(status(open)).as("another store that the same folder was used with").isEqualTo(200);
    assertThat(status(unknown, "access", "open")).isEqualTo(200);
    assertThat(status(unknown)).as("the operator has opened it").isEqualTo(200);
    assertThat(status(new Kept())).as("a new store may be the closed one without its content").isEqualTo(401);
    assertThat(status(closed)).isEqualTo(401);
  }

  @Test
  @Tag("long")
  void aServerContinuesWithAStoreThatStaysEmpty() {
    Losing[] store = new Losing[1];
    try (Rig rig = start(store)) {
      String admin = rig.post("/v1/keys", ADMIN).text("key");
      store[0].isLost = true;
      rig.eventually("/health/ready", answer -> answer.status() == 503);
      Rig.eventually(() -> rig.get("/health/live"), answer -> rig.printed().contains("flt_"), Duration.ofMinutes(1));
      String issued = rig.printed().lines().map(String::strip).filter(line -> line.startsWith("flt_")).findFirst()
          .orElseThrow();
      rig.eventually("/health/ready", answer -> answer.status() == 200);
      assertThat(rig.get("/v1/queues").status()).isEqualTo(401);
      assertThat(rig.as(admin).get("/v1/queues").status()).isEqualTo(401);
      assertThat(rig.as(issued).get("/v1/queues").status()).isEqualTo(200);
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
