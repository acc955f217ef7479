package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.Cancellation;
import io.foliot.Foliot;
import io.foliot.JobRun;
import io.foliot.Submitted;
import io.foliot.Tasks;
import io.foliot.backends.Await;
import io.foliot.client.Delivery;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.Job;
import io.foliot.client.JobView;
import io.foliot.client.QueueSettings;
import io.foliot.client.TaskNote;
import io.foliot.client.TaskState;
import io.foliot.client.UnreachableException;
import io.foliot.core.OnConflict;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application that is connected to a real server. */
final class ConnectTest {
  record Order(String id, int lines) {}

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
    Await.until(count + " are handled", BOUND, () -> handled.size() >= count);
  }

  private FoliotClient client() {
    return FoliotClient.builder(url()).build();
  }

  @Test
  void aHandlerGetsThePayloadTheHeadersAndTheFiring() {
    try (Foliot foliot = Foliot.connect(url())) {
      Tasks<Order> orders = foliot.tasks("orders", Order.class).retry(3, Duration.ofMillis(100)).concurrency(4)
          .handle((order, run) -> handled.add(order + " " + run.key() + " " + run.attempt() + " "
              + run.headers().get("x-tenant") + " " + run.firingId().equals(run.id() + "-" + run.generation())));
      Submitted submitted = orders.in(Duration.ofMillis(50)).key("order-7").header("x-tenant", "a")
          .submit(new Order("7", 2));
      assertThat(submitted.result()).isEqualTo(Submitted.Result.CREATED);
      awaitHandled(1);
      assertThat(handled).containsExactly("Order[id=7, lines=2] order-7 1 a true");
      orders.now().submitAsync(new Order("8", 0)).join();
      awaitHandled(2);
    }
    try (FoliotClient client = client()) {
      QueueSettings settings = client.getQueue("orders").settings();
      assertThat(settings.delivery().type()).isEqualTo("pull");
      assertThat(settings.concurrency()).isEqualTo(4);
      assertThat(settings.retry()).isNotNull().extracting(QueueSettings.Retry::maxAttempts).isEqualTo(3);
    }
  }

  @Test
  void theNextAttemptContinuesFromTheCheckpointAndPeopleSeeTheProgress() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      String id = foliot.tasks("pages", String.class).retry(5, Duration.ofMillis(100)).handle((text, run) -> {
        int from = run.checkpoint() == null ? 0 : Integer.parseInt(run.checkpoint());
        for (int page = from; page < 4; page++) {
          handled.add("page " + page);
          run.checkpoint(Integer.toString(page + 1));
          run.progress((page + 1) / 4.0, "page " + page);
          run.log("read " + page);
          if (page == 1) {
            throw new IllegalStateException("not yet");
          }
        }
      }).now().submit("a").id();
      awaitHandled(4);
      assertThat(handled).containsExactly("page 0", "page 1", "page 2", "page 3");
      Await.until("it is finished", BOUND, () -> client.getTask(id).state() == TaskState.FINISHED);
      assertThat(client.getTask(id).note())
          .isEqualTo(new TaskNote(1, "page 3", "4", "read 0\nread 1\nread 2\nread 3"));
      assertThat(Outcome.of(Map.of("FOLIOT_URL", server.url()), "get", id).out()).contains("100 %, page 3", "read 3");
    }
  }

  record Report(String kind) {}

  @Test
  void aJobOfTheServerReachesTheHandlersOfAnApplication() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      foliot.tasks("billing", Report.class).handle((report, run) -> {
        JobRun job = run.job();
        handled.add(
            job == null ? "no job" : job.job() + " " + job.shard() + " " + job.shardParameter() + " " + report.kind());
      });
      JobView report = client.putJob(Job.named("report").queue("billing").cron("0 2 1 1 *").zone("Asia/Tokyo")
          .shards(2, "eu", "us").parameter("{\"kind\":\"daily\"}").build());
      assertThat(report.nextTimes().getFirst()).endsWith("T02:00:00+09:00");
      client.triggerJob("report", "once");
      client.triggerJob("report", "once");
      awaitHandled(2);
      Await.until("its end is seen", BOUND,
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
  void anExceptionIsRetriedAgainFiresOnceMoreAndFailEndsTheTask() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      Tasks<String> tasks = foliot.tasks("work", String.class).retry(5, Duration.ofMillis(50))
          .handle((text, run) -> {
            handled.add(text + run.attempt());
            if (text.equals("throws") && run.attempt() < 3) {
              throw new IllegalStateException("not yet");
            }
            if (text.equals("fails")) {
              run.fail("never");
            }
            if (text.equals("again") && handled.stream().filter("again1"::equals).count() == 1) {
              run.again(Duration.ofMillis(100));
            }
          });
      tasks.now().submit("throws");
      awaitHandled(3);
      assertThat(handled).containsExactly("throws1", "throws2", "throws3");
      String failed = tasks.now().submit("fails").id();
      Await.until("it has failed", BOUND, () -> client.getTask(failed).state() == TaskState.FAILED);
      assertThat(client.getTask(failed).reason()).contains("never");
      tasks.now().submit("again");
      Await.until("it fires twice", BOUND, () -> handled.stream().filter("again1"::equals).count() == 2);
    }
  }

  @Test
  void touchCancelAndConflicts() {
    try (Foliot foliot = Foliot.connect(url())) {
      Tasks<String> tasks = foliot.tasks("q", String.class);
      Submitted first = tasks.in(Duration.ofHours(1)).key("k").submit("a");
      assertThat(tasks.key("k").touch(Duration.ofHours(2))).isTrue();
      assertThat(tasks.key("other").touch(Duration.ofHours(2))).isFalse();
      Submitted kept = tasks.in(Duration.ofHours(1)).key("k").onConflict(OnConflict.KEEP).submit("b");
      assertThat(kept.result()).isEqualTo(Submitted.Result.KEPT);
      assertThat(kept.id()).isEqualTo(first.id());
      Submitted rejected = tasks.in(Duration.ofHours(1)).key("k").onConflict(OnConflict.REJECT).submit("b");
      assertThat(rejected.result()).isEqualTo(Submitted.Result.REJECTED);
      assertThat(rejected.id()).isEqualTo(first.id());
      assertThat(tasks.in(Duration.ofHours(1)).key("k").submit("c").result()).isEqualTo(Submitted.Result.RESET);
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.CANCELLED);
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.ENDED);
      assertThat(tasks.key("none").cancel()).isEqualTo(Cancellation.NOT_FOUND);
      Submitted once = tasks.in(Duration.ofHours(1)).idempotencyKey("request-1").submit("x");
      Submitted twice = tasks.in(Duration.ofHours(1)).idempotencyKey("request-1").submit("x");
      assertThat(twice.result()).isEqualTo(Submitted.Result.REPEATED);
      assertThat(twice.id()).isEqualTo(once.id());
      Submitted other = tasks.in(Duration.ofHours(1)).idempotencyKey("request-1").submit("y");
      assertThat(other.result()).isEqualTo(Submitted.Result.MISMATCHED);
    }
  }

  @Test
  void aSettingStaysUntilItIsSetToAnotherValue() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      foliot.tasks("q", String.class).rate(5).concurrency(3);
      foliot.tasks("q", String.class).priority(2);
      QueueSettings settings = client.getQueue("q").settings();
      assertThat(settings.rate()).isEqualTo(5.0);
      assertThat(settings.concurrency()).isEqualTo(3);
      assertThat(settings.priority()).isEqualTo(2);
    }
  }

  @Test
  void whatCanNeverWorkIsRefusedWithTheReason() {
    try (Foliot foliot = Foliot.connect(url()); FoliotClient client = client()) {
      client.putQueue("calls", QueueSettings.of(Delivery.http(URI.create("http://127.0.0.1:9/x"))));
      Tasks<String> calls = foliot.tasks("calls", String.class);
      assertThat(calls.in(Duration.ofHours(1)).submit("x").result()).isEqualTo(Submitted.Result.CREATED);
      assertThatThrownBy(() -> calls.handle((text, run) -> {})).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("http").hasMessageContaining("calls");
      Connection none = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
          new Class<?>[]{Connection.class}, (proxy, method, arguments) -> null);
      assertThatThrownBy(() -> calls.now().with(none)).isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("Foliot.on(dataSource)");
      assertThatThrownBy(() -> foliot.tasks("no such name", String.class))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> Foliot.connect(url().resolve("/v2"))).as("not a Foliot server")
        .isInstanceOf(FoliotException.class);
    assertThatThrownBy(() -> Foliot.connect(URI.create("http://127.0.0.1:1"))).isInstanceOf(UnreachableException.class);
  }

  @Test
  void theKeyIsShownAndAWrongOneIsRefusedAtOnce() {
    String admin = Outcome.of(Map.of("FOLIOT_URL", server.url()), "keys", "create", "--allow", "admin").out().strip();
    assertThatThrownBy(() -> Foliot.connect(url())).isInstanceOfSatisfying(FoliotException.class,
        e -> assertThat(e.status()).isEqualTo(401));
    Outcome worker = Outcome.of(Map.of("FOLIOT_URL", server.url(), "FOLIOT_API_KEY", admin), "keys", "create",
        "--allow", "submit,consume,read", "--queues", "mine");
    Outcome.of(Map.of("FOLIOT_URL", server.url(), "FOLIOT_API_KEY", admin), "queues", "put", "mine", "--pull");
    try (Foliot foliot = Foliot.builder().apiKey(worker.out().strip()).connect(url())) {
      Tasks<String> mine = foliot.tasks("mine", String.class).handle((text, run) -> handled.add(text));
      mine.now().submit("hello");
      awaitHandled(1);
    }
    Outcome sender = Outcome.of(Map.of("FOLIOT_URL", server.url(), "FOLIOT_API_KEY", admin), "keys", "create",
        "--allow", "submit", "--queues", "mine");
    try (Foliot foliot = Foliot.builder().apiKey(sender.out().strip()).connect(url())) {
      assertThat(foliot.tasks("mine", String.class).in(Duration.ofHours(1)).submit("x").result())
          .isEqualTo(Submitted.Result.CREATED);
    }
  }

  @Test
  void aLimitThatIsRaisedLaterHolds() {
    CountDownLatch all = new CountDownLatch(8);
    try (Foliot foliot = Foliot.connect(url())) {
      Tasks<String> tasks = foliot.tasks("q", String.class).concurrency(2).handle((text, run) -> {
        all.countDown();
        all.await();
      });
      tasks.concurrency(20);
      for (int i = 0; i < 8; i++) {
        tasks.now().submit("task " + i);
      }
      Await.until("eight run at once", BOUND, () -> all.getCount() == 0);
    }
  }

  @Test
  void aWorkerOutlivesARestartOfTheServer() {
    int port = url().getPort();
    try (Foliot foliot = Foliot.connect(url())) {
      Tasks<String> tasks = foliot.tasks("q", String.class).handle((text, run) -> handled.add(text));
      tasks.now().submit("before");
      awaitHandled(1);
      server.close();
      server = server(port);
      tasks.now().submit("after");
      awaitHandled(2);
      assertThat(handled).containsExactly("before", "after");
    }
  }

  @Test
  void aCloseWaitsForTheHandlerThatRuns() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    try (Foliot foliot = Foliot.connect(url())) {
      foliot.tasks("q", String.class).handle((text, run) -> {
        begun.countDown();
        Await.pause(300);
        handled.add(text);
      }).now().submit("slow");
      begun.await();
    }
    assertThat(handled).containsExactly("slow");
    try (FoliotClient client = client()) {
      assertThat(client.listTasks("q", TaskState.FINISHED, 10, null).tasks()).hasSize(1);
    }
  }
}
