package io.foliot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.JobView;
import io.foliot.client.UnreachableException;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests an application that is connected to a real server. The tests that all ways to open Foliot have in common are in
 * {@code FoliotContract}.
 */
final class ConnectTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  @TempDir
  private Path data;

  private final List<String> handled = new CopyOnWriteArrayList<>();
  private FoliotServer server;

  @BeforeEach
  void startServer() {
    server = server(0);
  }

  private FoliotServer server(int port) {
    FoliotConfig config = FoliotConfig.load(
        Map.of("store", "rocksdb", "data", data.toString(), "port", Integer.toString(port)), Map.of(), null);
    return FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  private URI url() {
    return URI.create(server.url());
  }

  private void awaitHandled(int count) {
    Await.until(count + " tasks are handled", BOUND, () -> handled.size() >= count);
  }

  private FoliotClient client() {
    return FoliotClient.builder(url()).build();
  }

  @Test
  void theNextAttemptContinuesFromTheCheckpointAndShowsProgress() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      String id = foliot.tasks("pages", String.class).retry(5, Duration.ofMillis(100)).handle((text, attempt) -> {
        int from = attempt.checkpoint() == null ? 0 : Integer.parseInt(attempt.checkpoint());
        for (int page = from; page < 4; page++) {
          handled.add("page " + page);
          attempt.checkpoint(Integer.toString(page + 1));
          attempt.progress((page + 1) / 4.0, "page " + page);
          attempt.log("read " + page);
          if (page == 1) {
            throw new IllegalStateException("not yet");
          }
        }
      }).now().submit("a").id();
      awaitHandled(4);
      assertThat(handled).containsExactly("page 0", "page 1", "page 2", "page 3");
      Await.until("the task is finished", BOUND, () -> client.getTask(id).state() == TaskState.FINISHED);
      assertThat(client.getTask(id).note())
          .isEqualTo(new TaskNote(1, "page 3", "4", "read 0\nread 1\nread 2\nread 3"));
    }
  }

  record Report(String kind) {}

  @Test
  void aJobOfTheServerReachesTheHandlersOfAnApplication() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      foliot.tasks("billing", Report.class).handle((report, attempt) -> {
        JobRun job = attempt.run();
        handled.add(
            job == null ? "no job" : job.job() + " " + job.shard() + " " + job.shardParameter() + " " + report.kind());
      });
      JobView report = client.putJob(Job.named("report").queue("billing").cron("0 2 1 1 *").timeZone("Asia/Tokyo")
          .shards(2, "eu", "us").parameter("{\"kind\":\"daily\"}").build());
      assertThat(report.nextTimes().getFirst()).endsWith("T02:00:00+09:00");
      client.triggerJob("report", "once");
      client.triggerJob("report", "once");
      awaitHandled(2);
      Await.until("a run has succeeded", BOUND,
          () -> Objects.equals(client.getJob("report").totals().get("succeeded"), 1L));
      assertThat(handled).containsExactlyInAnyOrder("report 0 eu daily", "report 1 us daily");
      assertThat(client.pauseJob("report", "month end").state()).isEqualTo("PAUSED");
      assertThat(client.resumeJob("report").state()).isEqualTo("ACTIVE");
      client.deleteJob("report", false);
      assertThatThrownBy(() -> client.getJob("report")).isInstanceOf(FoliotException.class);
      assertThatThrownBy(foliot::jobs).isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("foliot jobs put");
    }
  }

  @Test
  void aSettingStaysWhenAnotherSettingIsSet() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      foliot.tasks("q", String.class).rate(5).concurrency(3).maxJobs(4).maxShards(6).retry(7, Duration.ofMillis(100));
      foliot.tasks("q", String.class).priority(2);
      QueueConfig settings = client.getQueue("q").settings();
      assertThat(settings.target().type()).isEqualTo("pull");
      assertThat(settings.retry().maxAttempts()).isEqualTo(7);
      assertThat(settings.rate()).isEqualTo(5.0);
      assertThat(settings.concurrency()).isEqualTo(3);
      assertThat(settings.maxJobs()).isEqualTo(4);
      assertThat(settings.maxShards()).isEqualTo(6);
      assertThat(settings.priority()).isEqualTo(2);
      foliot.tasks("q", String.class).retry(5, Duration.ofSeconds(9));
      assertThat(client.getQueue("q").settings().retry().maxAttempts()).as("a part that has its default again")
          .isEqualTo(5);
    }
  }

  @Test
  void impossibleUsesAreRefused() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      client.putQueue(QueueConfig.of("calls", Target.http(URI.create("http://127.0.0.1:9/x"))));
      Tasks<String> calls = foliot.tasks("calls", String.class);
      assertThat(calls.in(Duration.ofHours(1)).submit("x").result()).isEqualTo(Submitted.Result.CREATED);
      assertThatThrownBy(() -> calls.handle((text, attempt) -> {})).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("http").hasMessageContaining("calls");
    }
    assertThatThrownBy(() -> Foliot.connect(url().resolve("/v2"))).as("not a Foliot server")
        .isInstanceOf(FoliotException.class);
    assertThatThrownBy(() -> Foliot.connect(URI.create("http://127.0.0.1:1"))).isInstanceOf(UnreachableException.class);
  }

  /** Creates an API key, and returns it. The request uses the key {@code by}, or no key if {@code by} is empty. */
  private String newKey(String by, String actions, String queue) throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(url().resolve("/v1/keys"))
        .header("Content-Type", "application/json").POST(BodyPublishers
            .ofString("{\"actions\": [" + actions + "], \"queues\": [\"" + queue + "\"]}"));
    if (!by.isEmpty()) {
      request.header("Authorization", "Bearer " + by);
    }
    try (HttpClient http = HttpClient.newHttpClient()) {
      String created = http.send(request.build(), BodyHandlers.ofString()).body();
      Matcher key = Pattern.compile("\"(flt_[^\"]+)\"").matcher(created);
      assertThat(key.find()).as(created).isTrue();
      return key.group(1);
    }
  }

  @Test
  void aConnectionNeedsAKeyOnceTheServerHasKeys() throws IOException, InterruptedException {
    String admin = newKey("", "\"admin\"", "*");
    assertThatThrownBy(() -> Foliot.connect(url())).isInstanceOfSatisfying(FoliotException.class,
        e -> assertThat(e.status()).isEqualTo(401));
    String worker = newKey(admin, "\"submit\", \"consume\", \"read\"", "mine");
    try (FoliotClient client = FoliotClient.builder(url()).apiKey(admin).build()) {
      client.putQueue(QueueConfig.of("mine", Target.pull()));
    }
    try (Foliot foliot = Foliot.builder().apiKey(worker).connect(url())) {
      Tasks<String> mine = foliot.tasks("mine", String.class).handle((text, attempt) -> handled.add(text));
      mine.now().submit("hello");
      awaitHandled(1);
    }
    String sender = newKey(admin, "\"submit\"", "mine");
    try (Foliot foliot = Foliot.builder().apiKey(sender).connect(url())) {
      assertThat(foliot.tasks("mine", String.class).in(Duration.ofHours(1)).submit("x").result())
          .isEqualTo(Submitted.Result.CREATED);
    }
  }

  @Test
  void aHandlerOutlivesARestartOfTheServer() throws InterruptedException {
    int port = url().getPort();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    try (Foliot foliot = Foliot.connect(url())) {
      String id = foliot.tasks("q", String.class).handle((text, attempt) -> {
        handled.add(text + attempt.number());
        begun.countDown();
        assertThat(mayEnd.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      }).now().submit("x").id();
      assertThat(begun.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      server.close();
      server = server(port);
      mayEnd.countDown();
      try (FoliotClient client = client()) {
        Await.until("the task's end is recorded", BOUND, () -> client.getTask(id).state() == TaskState.FINISHED);
      }
    }
    assertThat(handled).containsExactly("x1");
  }

  @Test
  void aWorkerOutlivesARestartOfTheServer() {
    int port = url().getPort();
    try (Foliot foliot = Foliot.connect(url())) {
      Tasks<String> tasks = foliot.tasks("q", String.class).handle((text, attempt) -> handled.add(text));
      tasks.now().submit("before");
      awaitHandled(1);
      server.close();
      server = server(port);
      tasks.now().submit("after");
      awaitHandled(2);
      assertThat(handled).containsExactly("before", "after");
    }
  }

}
