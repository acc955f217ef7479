package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DoctorTest {
  @TempDir
  private Path folder = Path.of("");

  private JsonView check(Outcome outcome, String name) {
    List<JsonView> checks = JsonView.parse(outcome.out()).at("checks").items();
    return checks.stream().filter(check -> check.at("check").text().startsWith(name)).findFirst().orElseThrow();
  }

  @Test
  void everyWarningAndFailureHasAdvice() throws IOException {
    Path data = folder.resolve("data");
    Path store = Files.createDirectories(BackupCommand.storeFolder(data));
    Files.writeString(store.resolve("letter.txt"), "mine");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Outcome outcome = Outcome.of(Map.of(), "doctor", "--json", "--data", data.toString(), "--port",
          Integer.toString(taken.getLocalPort()));
      assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
      JsonView all = JsonView.parse(outcome.out());
      assertThat(all.at("ok").isTrue()).isFalse();
      assertThat(all.at("checks").items()).hasSize(8).allMatch(
          check -> check.at("verdict").text().equals("ok") || !check.at("advice").text("").isEmpty());
      assertThat(check(outcome, "port").at("verdict").text()).isEqualTo("fail");
      assertThat(check(outcome, "data").at("verdict").text()).isEqualTo("fail");
      assertThat(check(outcome, "disk sync").at("seen").text()).contains("p50", "p99");
    }
  }

  @Test
  void anotherProgramIsNoServer() throws IOException {
    HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext("/", call -> {
      call.sendResponseHeaders(200, -1);
      call.close();
    });
    other.start();
    try {
      Outcome outcome = Outcome.of(Map.of(), "doctor", "--json", "--url",
          "http://127.0.0.1:" + other.getAddress().getPort());
      assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
      assertThat(check(outcome, "server").at("seen").text()).contains("not as a Foliot server does");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void anUnreachableDatabaseIsReported() {
    Outcome outcome = Outcome.of(Map.of("FOLIOT_STORE_KIND", "jdbc:postgresql://127.0.0.1:1/foliot?password=hush",
        "FOLIOT_STORE_USER", "foliot"), "doctor", "--json", "--port", "0");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(check(outcome, "store").at("verdict").text()).isEqualTo("fail");
    assertThat(check(outcome, "store").at("advice").text()).contains("store.password");
    assertThat(outcome.out()).doesNotContain("hush");
  }

  @Test
  void aNewFolderAndAFreePortAreOk() {
    Outcome outcome = Outcome.of(Map.of(), "doctor", "--data", folder.resolve("new").toString(), "--port", "0");
    assertThat(outcome.out()).contains("ok    port 0: free").contains("does not exist yet; the server creates it");
    assertThat(folder.resolve("new")).doesNotExist();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aServerThatPlansJobsLateIsAWarning() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      boolean isReadiness = exchange.getRequestURI().getPath().equals("/health/ready");
      byte[] body = (isReadiness ? "{\"status\":\"UP\",\"warnings\":[\"jobs are planned late\"]}" : "{}")
          .getBytes(UTF_8);
      exchange.sendResponseHeaders(isReadiness ? 200 : 401, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    try {
      Outcome outcome = Outcome.of(Map.of(), "doctor", "--json", "--url",
          "http://127.0.0.1:" + server.getAddress().getPort());
      assertThat(check(outcome, "server").at("verdict").text()).isEqualTo("warn");
      assertThat(check(outcome, "server").at("seen").text()).contains("is ready", "jobs are planned late");
    } finally {
      server.stop(0);
    }
  }
}
