package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.config.Option;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that the documents list the settings and metrics of the server, and that the alerts use only metrics of the
 * server.
 */
final class OperatingPageTest {
  private static final Path DOCS = (Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", ".."))
      .resolve("docs");
  private static final String REWRITE = "mvn -ntp test -pl :foliot-cli -am -Dtest=OperatingPageTest"
      + " -Dsurefire.failIfNoSpecifiedTests=false -Dfoliot.pages=write";
  /** The line with the type of a metric: {@code # TYPE foliot_tasks gauge}. */
  private static final Pattern TYPE = Pattern.compile("^# TYPE (foliot_\\w+) (\\w+)$", Pattern.MULTILINE);
  private static final Pattern METRIC = Pattern.compile("\\bfoliot_[a-z_]+");
  /** The first cell of a row of a table, if this cell begins with a metric. */
  private static final Pattern ROW = Pattern.compile("^\\| (`foliot_[^|]*)\\|", Pattern.MULTILINE);

  @TempDir
  private Path folder = Path.of("");

  private static String settings() {
    StringBuilder page = new StringBuilder("""
        # Settings

        This page lists every setting of a server by its key in `foliot.yaml`. An environment variable or an option of
        `./foliot server` can set it too; [operating](operating.md#settings) has the order of precedence. This command
        generates the page from the code:

        ```
        %s
        ```
        """.formatted(REWRITE));
    Map<String, StringBuilder> sections = new LinkedHashMap<>();
    for (Option<?> option : Option.all()) {
      String section = option.key().substring(0, option.key().indexOf('.'));
      sections.computeIfAbsent(section, name -> new StringBuilder("\n## " + name
          + "\n\n| key | variable | option | meaning | values | default |\n|---|---|---|---|---|---|\n"))
          .append("| `").append(option.key()).append("` | `").append(option.variable()).append("` | `--")
          .append(option.flag()).append("` | ").append(cell(option.about())).append(" | ")
          .append(cell(option.expected())).append(" | ")
          .append(option.standard().isEmpty() ? "" : "`" + option.standard() + "`").append(" |\n");
    }
    sections.values().forEach(page::append);
    return page.toString();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace("<", "&lt;");
  }

  @Test
  void theSettingsPageIsMadeFromTheOptions() throws IOException {
    Path page = DOCS.resolve("settings.md");
    if (System.getProperty("foliot.pages", "").equals("write")) {
      Files.writeString(page, settings());
    }
    assertThat(Files.exists(page) ? Files.readString(page) : "")
        .as("docs/settings.md differs from the options of the server; this command rewrites it: %s", REWRITE)
        .isEqualTo(settings());
  }

  private static String send(HttpClient client, String method, String url, String body)
      throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(URI.create(url)).header("Content-Type", "application/json")
        .method(method, BodyPublishers.ofString(body)).build(), BodyHandlers.ofString()).body();
  }

  /** Returns the metrics of a server that has a failed attempt, a running attempt, and a job whose runs fail. */
  private String scraped() throws IOException, InterruptedException {
    HttpClient client = HttpClient.newHttpClient();
    try (FoliotServer server = FoliotServer.start(FoliotConfig.load(
        Map.of("data", folder.resolve("data").toString(), "port", "0", "log-level", "error"), Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
        ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      for (int port : List.of(1, silent.getLocalPort())) {
        String queue = server.url() + "/v1/queues/port-" + port;
        send(client, "PUT", queue, "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:" + port
            + "/\", \"timeout\": \"60s\"}}");
        send(client, "POST", queue + "/tasks", "{\"delay\": \"0s\"}");
      }
      send(client, "PUT", server.url() + "/v1/queues/pulled", "{\"delivery\": {\"type\": \"pull\"}}");
      send(client, "PUT", server.url() + "/v1/jobs/fails",
          "{\"queue\": \"port-1\", \"schedule\": {\"every\": \"100ms\"}, \"maxAttempts\": 1}");
      for (int i = 0; i < 300; i++) {
        String metrics = client.send(HttpRequest.newBuilder(URI.create(server.url() + "/metrics")).build(),
            BodyHandlers.ofString()).body();
        if (metrics.contains("foliot_attempts_seconds_count") && metrics.contains("foliot_destination_limit{")
            && metrics.contains("foliot_lane_running{") && metrics.contains("foliot_job_failures_in_a_row{")
            && metrics.contains("foliot_jobs_running{")) {
          return metrics;
        }
        TimeUnit.MILLISECONDS.sleep(100);
      }
      throw new AssertionError("not all metrics appeared within 30 s");
    }
  }

  /** Returns the names of the metrics, without the {@code _max} gauges of histograms and summaries. */
  private static Set<String> families(String scraped) {
    Set<String> names = new TreeSet<>();
    Set<String> histograms = new TreeSet<>();
    Matcher types = TYPE.matcher(scraped);
    while (types.find()) {
      (List.of("histogram", "summary").contains(types.group(2)) ? histograms : names).add(types.group(1));
    }
    histograms.forEach(name -> names.remove(name + "_max"));
    names.addAll(histograms);
    return names;
  }

  private static Set<String> all(Pattern pattern, String text) {
    Set<String> found = new TreeSet<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(matcher.groupCount()));
    }
    return found;
  }

  @Test
  void theDocumentedMetricsAreThoseOfAServer() throws IOException, InterruptedException {
    Set<String> families = families(scraped());
    String page = Files.readString(DOCS.resolve("operating.md"));
    Set<String> documented = all(METRIC, String.join("\n", all(ROW, page)));
    assertThat(documented).as("the metrics in the tables of docs/operating.md").isEqualTo(families);

    Set<String> named = all(METRIC, Files.readString(DOCS.resolve("alerts.yml")));
    assertThat(named).as("metrics in docs/alerts.yml").hasSizeGreaterThan(8)
        .allSatisfy(name -> assertThat(families).contains(name.replaceFirst("_(count|sum|bucket)$", "")));
  }

  @Test
  void metricsAreFoundInScrapesAndTables() {
    Set<String> families = families("# TYPE foliot_a_seconds histogram\n# TYPE foliot_a_seconds_max gauge\n");
    assertThat(families).containsExactly("foliot_a_seconds");
    assertThat(all(METRIC, String.join("\n", all(ROW, "| `foliot_b`, `foliot_c` | x |\n")))).containsExactly(
        "foliot_b", "foliot_c");
  }
}
