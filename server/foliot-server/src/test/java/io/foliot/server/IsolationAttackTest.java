package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Workers and receivers hold attempts for hours. Tests that callbacks of other queues are delayed by at most
 * {@link #LATE_MILLIS}.
 */
final class IsolationAttackTest {
  private static final int PAYLOAD_BYTES = 256 << 10;
  /** Minimum number of tasks with large payloads that workers hold. Their payloads together have about 64 MiB. */
  private static final int HELD = 256;
  /**
   * Number of receivers that hang. The payloads of their tasks need more than the 64 MiB that a server has for
   * payloads.
   */
  private static final int RECEIVERS = 18;
  /** Number of callbacks that must not be delayed. */
  private static final int VICTIMS = 100;
  /** Delay of the first victim. */
  private static final long FIRST_MILLIS = 1_000;
  /** Time between the due times of two consecutive victims. */
  private static final long APART_MILLIS = 20;
  /** Greatest permitted lateness of a callback. A few milliseconds are usual. */
  private static final long LATE_MILLIS = 2_000;

  private final Rig rig = Rig.start(Map.of("allow-network", "127.0.0.0/8"));
  private final ConcurrentLinkedQueue<Long> lateMillis = new ConcurrentLinkedQueue<>();
  private final List<ServerSocket> hangingReceivers = new ArrayList<>();

  @AfterEach
  void stop() throws IOException {
    for (ServerSocket socket : hangingReceivers) {
      socket.close();
    }
    rig.close();
  }

  /** Returns the URL of a new receiver that accepts connections, but neither reads nor answers. */
  private String hangingUrl() throws IOException {
    ServerSocket socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    hangingReceivers.add(socket);
    return "http://127.0.0.1:" + socket.getLocalPort() + "/hook";
  }

  private void submitLarge(String queue, int tasks) {
    // Base64 writes 3 bytes as 4 characters. With 100 bytes less, the payload stays below the limit of 256 KiB.
    String payload = Base64.getEncoder().encodeToString(new byte[PAYLOAD_BYTES * 3 / 4 - 100]);
    for (int i = 0; i < tasks; i++) {
      Rig.Answer answer = rig.post("/v1/queues/" + queue + "/tasks",
          "{\"delay\": \"0s\", \"payload\": \"" + payload + "\"}");
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    }
  }

  private void queue(String name, String url, String timeout) {
    Rig.Answer answer = rig.put("/v1/queues/" + name, "{\"delivery\": {\"type\": \"http\", \"url\": \"" + url
        + "\", \"timeout\": \"" + timeout + "\"}}");
    assertThat(answer.status()).as(answer.body()).isLessThan(300);
  }

  private void ensureVictimIsPunctual() throws Exception {
    CountDownLatch all = new CountDownLatch(VICTIMS);
    HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      receiver.setExecutor(threads);
      receiver.createContext("/", exchange -> {
        long nowMillis = System.currentTimeMillis();
        long dueMillis = Long.parseLong(new String(exchange.getRequestBody().readAllBytes(), UTF_8).trim());
        lateMillis.add(nowMillis - dueMillis);
        exchange.sendResponseHeaders(204, -1);
        exchange.close();
        all.countDown();
      });
      receiver.start();
      queue("victim", "http://127.0.0.1:" + receiver.getAddress().getPort() + "/hook", "10s");
      long firstMillis = System.currentTimeMillis() + FIRST_MILLIS;
      for (int i = 0; i < VICTIMS; i++) {
        long dueMillis = firstMillis + APART_MILLIS * i;
        Rig.Answer answer = rig.post("/v1/queues/victim/tasks",
            "{\"dueAt\": \"" + Instant.ofEpochMilli(dueMillis) + "\", \"payload\": " + dueMillis + "}");
        assertThat(answer.status()).as(answer.body()).isEqualTo(201);
      }
      boolean hasAll = all.await(30, TimeUnit.SECONDS);
      List<Long> sorted = lateMillis.stream().sorted().toList();
      assertThat(hasAll).as("callbacks that arrived: " + sorted.size()).isTrue();
      System.out.println("another queue's callbacks: p50 " + sorted.get(VICTIMS / 2) + " ms late, p99 "
          + sorted.get(VICTIMS * 99 / 100 - 1) + " ms, max " + sorted.getLast() + " ms");
      assertThat(sorted).allMatch(late -> late >= 0 && late <= LATE_MILLIS);
    } finally {
      receiver.stop(0);
    }
  }

  @Test
  void tasksThatAWorkerHoldsForADayDelayNoOtherQueue() throws Exception {
    rig.withQueue("held");
    submitLarge("held", HELD);
    int held = 0;
    while (held < HELD) {
      Rig.Answer claim = rig.post("/v1/queues/held/claims",
          "{\"max\": 50, \"wait\": \"5s\", \"lease\": \"24h\", \"worker\": \"w\"}");
      assertThat(claim.list("tasks")).as("claimed after " + held).isNotEmpty();
      held += claim.list("tasks").size();
    }
    ensureVictimIsPunctual();
  }

  @Test
  void receiversThatHangWithLargePayloadsDelayNoOtherQueue() throws Exception {
    for (int i = 0; i < RECEIVERS; i++) {
      queue("hangs" + i, hangingUrl(), "1h");
      submitLarge("hangs" + i, HELD / RECEIVERS + 2);
    }
    ensureVictimIsPunctual();
  }
}
