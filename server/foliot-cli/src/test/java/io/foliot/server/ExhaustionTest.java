package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Meter;
import io.foliot.core.SystemClock;
import io.foliot.jobs.JobMeter;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.metrics.Prometheus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a server whose callers use up its memory or its descriptors, or that loses one of its threads. */
class ExhaustionTest {
  private static final int LISTS = 150;
  private static final int TASKS = 300;

  @TempDir
  private Path folder;

  private ChildServer.Spec small(String heap, String... options) {
    List<String> all = new ArrayList<>(
        List.of("--data", folder.resolve("data").toString(), "--store-record-cache", "8MiB",
            "--store-block-cache", "8MiB", "--store-write-buffer", "16MiB", "--limit-waiting-bytes", "16MiB",
            "--engine-call-bytes", "8MiB"));
    all.addAll(List.of(options));
    return ChildServer.Spec.server(List.of("-Xmx" + heap), all.toArray(String[]::new));
  }

  private static void submit(ChildServer child, String queue, String body) throws IOException {
    HttpResponse<String> answer = child.send("POST", "/v1/queues/" + queue + "/tasks", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
  }

  private static boolean delivers(ChildServer child) throws IOException {
    submit(child, "canary", "{\"delay\": \"0s\"}");
    HttpResponse<String> claimed = child.send("POST", "/v1/queues/canary/claims", "{\"wait\": \"20s\"}");
    return claimed.statusCode() == 200 && claimed.body().contains("\"token\"");
  }

  @Test
  void manyListsOfLargeTasksDoNotStopTheServer() throws Exception {
    String payload = "x".repeat(255 << 10);
    try (ChildServer child = ChildServer.ready(small("160m"), folder);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      child.send("PUT", "/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}}");
      child.send("PUT", "/v1/queues/canary", "{\"delivery\": {\"type\": \"pull\"}}");
      for (int i = 0; i < TASKS; i++) {
        submit(child, "q", "{\"delay\": \"1h\", \"payload\": \"" + payload + "\"}");
      }
      List<Future<Integer>> lists = IntStream.range(0, LISTS).mapToObj(i -> callers.submit(
          () -> child.send("GET", "/v1/queues/q/tasks?limit=1000", null).statusCode())).toList();
      assertThat(delivers(child)).as("delivers meanwhile").isTrue();
      List<Integer> statuses = new ArrayList<>();
      for (Future<Integer> list : lists) {
        statuses.add(list.get());
      }
      assertThat(statuses).contains(200).allMatch(status -> status == 200 || status == 503);
      assertThat(child.send("GET", "/health/ready", null).statusCode()).isEqualTo(200);
      assertThat(delivers(child)).as("delivers afterwards").isTrue();
      assertThat(child.output()).doesNotContain("OutOfMemoryError");
    }
  }

  @Test
  void withoutMemoryTheServerEndsWithTheReason() throws Exception {
    ChildServer.Spec spec = ChildServer.Spec.server(List.of("-Xmx40m"), "--data", folder.resolve("data").toString(),
        "--engine-call-bytes", "1GiB", "--limit-waiting-bytes", "1GiB", "--store-record-cache", "1GiB");
    try (ChildServer child = ChildServer.ready(spec, folder);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      child.send("PUT", "/v1/queues/q", "{\"delivery\": {\"type\": \"pull\"}}");
      String task = "{\"delay\": \"1s\", \"key\": \"KEY\", \"payload\": \"" + "x".repeat(255 << 10) + "\"}";
      for (int i = 0; i < 400; i++) {
        String body = task.replace("KEY", "k" + i);
        Future<?> unused = callers.submit(() -> child.send("POST", "/v1/queues/q/tasks", body));
      }
      assertThat(child.exitCode()).isEqualTo(CoreThreads.EXIT_CODE);
      assertThat(child.output()).contains("OutOfMemoryError", "exit code 5");
    }
  }

  /** A server whose event loop ends with an injected OutOfMemoryError. */
  static final class DyingLoop {
    private DyingLoop() {}

    public static void main(String[] arguments) {
      CoreThreads.watch();
      FoliotConfig config = FoliotConfig.load(Map.of("store", "memory", "port", "0"), Map.of(), null);
      Meter meter = new Meter() {
        private int turns;

        @Override
        public void loopTurn(long durationMicros) {
          if (++turns > 20) {
            throw new OutOfMemoryError("injected");
          }
        }
      };
      SystemClock clock = new SystemClock();
      SecureRandom random = new SecureRandom();
      CompletableFuture<Throwable> failure = new CompletableFuture<>();
      ServerRuntime runtime = ServerRuntime.open(config, true, clock, meter, JobMeter.NONE, random,
          failure::complete);
      FoliotServer server = FoliotServer.start(config, runtime, new Prometheus(0), failure, clock, random, System.out);
      System.out.println("Foliot is ready at " + server.url());
    }
  }

  @Test
  void aDeadLoopEndsTheProcess() {
    try (ChildServer child = new ChildServer(
        new ChildServer.Spec("", List.of("-Xmx64m"), DyingLoop.class, List.of()), folder)) {
      assertThat(child.exitCode()).isEqualTo(CoreThreads.EXIT_CODE);
      assertThat(child.output()).contains("foliot: the thread foliot-loop-0 has ended", "OutOfMemoryError: injected",
          "start it again");
    }
  }

  @Test
  void moreConnectionsThanDescriptorsDoNotEndTheServer() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try (ChildServer child = ChildServer.ready(small("128m").after("ulimit -n 320"), folder)) {
      int port = child.url().getPort();
      for (int i = 0; i < 400; i++) {
        idle.add(new Socket(InetAddress.getLoopbackAddress(), port));
      }
      for (Socket socket : idle) {
        socket.close();
      }
      child.await("the server responds again", () -> {
        try {
          return child.send("GET", "/health/ready", null).statusCode() == 200;
        } catch (IOException e) {
          return false;
        }
      });
      assertThat(child.isAlive()).isTrue();
      assertThat(child.output()).contains("Raise its limit (ulimit -n, LimitNOFILE)");
    }
  }
}
