package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.foliot.api.Body;
import io.foliot.api.DurationText;
import io.foliot.api.Limits;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.client.FoliotClient;
import io.foliot.client.UnknownOutcomeException;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.TaskRecord;
import io.foliot.delivery.http.HttpDelivery;
import io.foliot.delivery.http.HttpDeliveryOptions;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.ConfigException;
import io.foliot.server.config.FoliotConfig;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

/**
 * Checks that the command line, the configuration, the API and headers read each duration of a table in the same way.
 */
final class DurationReadersTest {
  private static final String EXPECTED = "expected a duration such as \"30m\", but got \"";

  /**
   * A row of the table.
   *
   * @param json the text as a JSON string, with quotation marks
   * @param text the text that is read as a duration
   * @param duration the value of the text; null if it is not a duration
   */
  private record Row(String json, String text, @Nullable Duration duration) {
    boolean isIn(Duration min, Duration max) {
      return duration != null && duration.compareTo(min) >= 0 && duration.compareTo(max) <= 0;
    }

    /** Returns whether a header can have this value: ASCII without outer spaces and without control characters. */
    boolean isHeaderValue() {
      return text.equals(text.strip()) && text.chars().allMatch(c -> c >= ' ' && c < 0x7F);
    }
  }

  private static List<Row> rows() throws IOException {
    try (BufferedReader table = new BufferedReader(new InputStreamReader(
        requireNonNull(DurationReadersTest.class.getResourceAsStream("durations.tsv")), UTF_8))) {
      List<Row> rows = table.lines().filter(line -> !line.startsWith("#")).map(line -> {
        int tab = line.indexOf('\t');
        String json = line.substring(0, tab);
        String value = line.substring(tab + 1);
        String text = unescaped(json.substring(1, json.length() - 1));
        return new Row(json, text, value.equals("-") ? null : Duration.parse(value));
      }).toList();
      assertThat(rows).hasSizeGreaterThan(100);
      return rows;
    }
  }

  /** Decodes the numeric escapes of a JSON string; the table has no other escapes. */
  private static String unescaped(String json) {
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < json.length(); at++) {
      if (json.charAt(at) == '\\') {
        text.append((char) Integer.parseInt(json.substring(at + 2, at + 6), 16));
        at += 5;
      } else {
        text.append(json.charAt(at));
      }
    }
    return text.toString();
  }

  /** Returns the first 20 characters of the text, as error messages show them. */
  private static String shown(Row row) {
    return row.text.substring(0, Math.min(row.text.length(), 20)).replace('\u0000', ' ');
  }

  @Test
  void theGrammarReadsEachRow() throws IOException {
    for (Row row : rows()) {
      if (row.duration != null) {
        assertThat(DurationText.parse(row.text)).as(row.json).isEqualTo(row.duration);
      } else {
        assertThatThrownBy(() -> DurationText.parse(row.text)).as(row.json)
            .isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith(EXPECTED + shown(row));
      }
    }
  }

  @Test
  void theCommandLineReadsEachRow() throws IOException {
    for (Row row : rows()) {
      if (row.duration != null) {
        assertThat(new DurationConverter().convert(row.text)).as(row.json).isEqualTo(row.duration);
      } else {
        assertThatThrownBy(() -> new DurationConverter().convert(row.text)).as(row.json)
            .isInstanceOf(TypeConversionException.class).hasMessageStartingWith(EXPECTED + shown(row));
      }
    }
    assertThat(Outcome.of(Map.of(), "touch", "q", "k", "--delay", "x").err()).contains(EXPECTED + "x\"");
  }

  @Test
  void theConfigurationReadsEachRow() throws IOException {
    for (Row row : rows()) {
      Map<String, String> flags = Map.of("call-timeout", row.text);
      if (row.isIn(Duration.ofMillis(100), Duration.ofMinutes(10))) {
        assertThat(FoliotConfig.load(flags, Map.of(), null).listen().callTimeout()).as(row.json)
            .isEqualTo(row.duration);
        assertThat(FoliotConfig.load(Map.of(), Map.of("FOLIOT_SERVER_CALL_TIMEOUT", row.text), null).listen()
            .callTimeout()).as(row.json).isEqualTo(row.duration);
      } else {
        assertThatThrownBy(() -> FoliotConfig.load(flags, Map.of(), null)).as(row.json)
            .isInstanceOf(ConfigException.class).hasMessageContaining("expected a duration from 100ms to 10m");
      }
    }
  }

  @Test
  void theApiReadsEachRow() throws Exception {
    FoliotConfig config = FoliotConfig.load(Map.of("store", "memory", "port", "0", "log-level", "error"), Map.of(),
        null);
    try (FoliotServer server = FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
        HttpClient http = HttpClient.newHttpClient();
        FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      for (Row row : rows()) {
        HttpResponse<String> answer = http.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/v1/queues/q")).header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers
                    .ofString("{\"delivery\": {\"type\": \"pull\"}, \"maxWait\": " + row.json + "}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
        if (row.isIn(Duration.ZERO, Duration.ofMillis(Limits.MAX_DELAY_MILLIS))) {
          assertThat(answer.statusCode()).as(row.json).isBetween(200, 201);
          Duration read = requireNonNull(client.getQueue("q").settings().maxWait());
          // Fractions of a millisecond are not stored.
          assertThat(Duration.ofMillis(read.toMillis())).as(row.json)
              .isEqualTo(Duration.ofMillis(requireNonNull(row.duration).toMillis()));
        } else {
          assertThat(answer.statusCode()).as(row.json).isEqualTo(400);
          assertThat(answer.body()).as(row.json)
              .contains("maxWait: expected a duration such as \\\"30m\\\", but got \\\"");
        }
      }
    }
  }

  /** A stub of a receiver and of a server. Its response contains the current row. */
  private static final class Stub implements AutoCloseable {
    private final HttpServer server;
    private volatile Row row = new Row("\"\"", "", null);

    Stub() throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext("/", this::answer);
      server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
      byte[] body = ("{\"queue\": \"q\", \"delivery\": {\"type\": \"pull\"}, \"maxWait\": " + row.json + "}")
          .getBytes(UTF_8);
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      if (row.isHeaderValue()) {
        exchange.getResponseHeaders().set("foliot-next", row.text);
      }
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    }

    String url() {
      return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }

  @Test
  void theHeaderOfACallbackReadsEachRow() throws Exception {
    try (Stub receiver = new Stub();
        HttpDelivery delivery = new HttpDelivery(HttpDeliveryOptions.builder().allowLoopback(true).build())) {
      TaskRecord task = TaskRecord.edit(TaskId.of(1, 2, 3), "q", null).state(TaskState.RUNNING).token(new Token(1, 2))
          .generation(1).attempt(1).body(Body.json("{}")).done();
      DeliveryAttempt attempt = new DeliveryAttempt(task, Target.http(receiver.url()),
          "00-" + "1".repeat(32) + "-" + "2".repeat(16)
              + "-01");
      for (Row row : rows()) {
        if (!row.isHeaderValue()) {
          continue;
        }
        receiver.row = row;
        Answer answer = delivery.deliver(attempt).toCompletableFuture().get(20, TimeUnit.SECONDS);
        if (row.isIn(Duration.ZERO, Duration.ofMillis(Limits.MAX_DELAY_MILLIS))) {
          assertThat(answer).as(row.json).isEqualTo(new Answer.Again(requireNonNull(row.duration), "HTTP 200"));
        } else {
          assertThat(answer).as(row.json).isInstanceOfSatisfying(Answer.Retry.class,
              retry -> assertThat(retry.detail()).startsWith("HTTP 200; foliot-next: expected a duration"));
        }
      }
    }
  }

  @Test
  void theClientReadsEachRow() throws Exception {
    try (Stub server = new Stub(); FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      for (Row row : rows()) {
        server.row = row;
        if (row.duration != null) {
          assertThat(client.getQueue("q").settings().maxWait()).as(row.json).isEqualTo(row.duration);
        } else {
          assertThatThrownBy(() -> client.getQueue("q").settings()).as(row.json)
              .isInstanceOf(UnknownOutcomeException.class);
        }
      }
    }
  }

  @Test
  void theClientReadsDurationsAsTheServerWritesThem() throws Exception {
    try (Stub server = new Stub(); FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      for (Row row : rows()) {
        if (row.duration != null) {
          String written = DurationText.format(row.duration);
          server.row = new Row('"' + written + '"', written, row.duration);
          assertThat(client.getQueue("q").settings().maxWait()).as(written).isEqualTo(row.duration);
        }
      }
    }
  }
}
