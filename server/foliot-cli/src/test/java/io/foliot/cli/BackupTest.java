package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.foliot.backends.Await;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BackupTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  @TempDir
  private Path folder = Path.of("");

  private static FoliotServer start(Path data) {
    return start(data, Map.of("port", "0", "log-level", "error"));
  }

  private static FoliotServer start(Path data, Map<String, String> flags) {
    Map<String, String> all = new HashMap<>(flags);
    all.put("data", data.toString());
    return FoliotServer.start(FoliotConfig.load(all, Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private static Outcome run(FoliotServer server, String... words) {
    return Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
  }

  private static void assertDone(Outcome outcome) {
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
  }

  private void writeTaskAndJob(FoliotServer server) {
    assertDone(run(server, "queues", "put", "orders", "--pull"));
    assertDone(run(server, "submit", "orders", "--key", "order-7", "--delay", "1h"));
    JobAccount.put(server, "orders");
  }

  private void assertRestores(Path backup) {
    Path restored = folder.resolve("restored");
    assertDone(Outcome.of(Map.of(), "restore", "--from", backup.toString(), "--data", restored.toString()));
    try (FoliotServer server = start(restored)) {
      assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
      JobAccount.assertContinues(server);
    }
  }

  @Test
  void aBackupOfARunningServerCanBeRestored() {
    Path data = folder.resolve("data");
    Path backup = folder.resolve("backup");
    try (FoliotServer server = start(data)) {
      writeTaskAndJob(server);
      assertDone(run(server, "backup", "--to", backup.toString()));
    }
    assertRestores(backup);
  }

  @Test
  void aBackupOfAStoppedServerCanBeRestored() {
    Path data = folder.resolve("data");
    Path backup = folder.resolve("backup");
    try (FoliotServer server = start(data)) {
      writeTaskAndJob(server);
    }
    assertDone(Outcome.of(Map.of(), "backup", "--data", data.toString(), "--to", backup.toString()));
    assertRestores(backup);
  }

  /** Collects the callbacks of jobs: by job, scheduled time and shard, the ids that came with them. */
  private static final class Callbacks implements AutoCloseable {
    private final HttpServer receiver;
    private final Map<String, List<String>> ids = new ConcurrentHashMap<>();

    Callbacks() throws IOException {
      receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      receiver.createContext("/", exchange -> {
        try (exchange) {
          String shard = header(exchange, "foliot-job") + " " + header(exchange, "foliot-scheduled-at") + " "
              + header(exchange, "foliot-shard");
          ids.computeIfAbsent(shard, key -> new CopyOnWriteArrayList<>())
              .add(header(exchange, "webhook-id") + " " + header(exchange, "foliot-task-id"));
          exchange.sendResponseHeaders(204, -1);
        }
      });
      receiver.start();
    }

    private static String header(HttpExchange exchange, String name) {
      return String.valueOf(exchange.getRequestHeaders().getFirst(name));
    }

    String url() {
      return "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
    }

    long repeated() {
      return ids.values().stream().filter(each -> each.size() > 1).count();
    }

    @Override
    public void close() {
      receiver.stop(0);
    }
  }

  /** The runs between the backup and the restore happen twice, and a receiver must recognise them. */
  @Test
  void theRunsAfterABackupAreRepeatedWithTheSameIds() throws IOException {
    Path data = folder.resolve("data");
    Path backup = folder.resolve("backup");
    Path restored = folder.resolve("restored");
    Map<String, String> flags = Map.of("port", "0", "log-level", "error", "allow-network", "127.0.0.0/8");
    try (Callbacks callbacks = new Callbacks()) {
      try (FoliotServer server = start(data, flags)) {
        assertDone(run(server, "queues", "put", "calls", "--to", callbacks.url()));
        assertDone(run(server, "jobs", "put", "report", "--queue", "calls", "--every", "200ms", "--shards", "2",
            "--overlap", "allow", "--misfire", "all", "--window", "1h"));
        Await.until("a run", BOUND, () -> !callbacks.ids.isEmpty());
        assertDone(run(server, "backup", "--to", backup.toString()));
        int before = callbacks.ids.size();
        Await.until("runs after the backup", BOUND, () -> callbacks.ids.size() > before + 4);
      }
      assertThat(callbacks.ids.values()).allMatch(each -> each.size() == 1);
      assertDone(Outcome.of(Map.of(), "restore", "--from", backup.toString(), "--data", restored.toString()));
      try (FoliotServer server = start(restored, flags)) {
        assertThat(server.url()).isNotEmpty();
        Await.until("the runs again", BOUND, () -> callbacks.repeated() >= 4);
      }
      callbacks.ids.forEach((shard, each) -> assertThat(Set.copyOf(each)).as(shard).hasSize(1));
    }
  }

  @Test
  void aFolderThatIsNotEmptyIsRefused() throws IOException {
    Files.writeString(folder.resolve("letter.txt"), "mine");
    Outcome backup = Outcome.of(Map.of(), "backup", "--to", folder.toString());
    assertThat(backup.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(backup.err()).contains("--to is not empty");
    Outcome restore = Outcome.of(Map.of(), "restore", "--from", folder.toString(), "--data", folder.toString());
    assertThat(restore.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(restore.err()).contains("--data is not empty");
  }

  @Test
  void aFolderWithoutAStoreOrABackupIsRefused() throws IOException {
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Outcome backup = Outcome.of(Map.of(), "backup", "--data", empty.toString(), "--to",
        folder.resolve("new").toString());
    assertThat(backup.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(backup.err()).contains("there is no store in " + empty);
    Outcome restore = Outcome.of(Map.of(), "restore", "--from", empty.toString(), "--data",
        folder.resolve("data").toString());
    assertThat(restore.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(restore.err()).contains("no backup");
  }
}
