package io.foliot.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the programs of docs/callbacks.md: the Python programs against a real server, the functions in shell and
 * JavaScript without a server. {@code DocumentsTest} compiles the Java programs.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class CallbacksPageTest {
  private static final Path PAGE = (Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", ".."))
      .resolve("docs").resolve("callbacks.md");
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String OLD_SECRET = "whsec_b2xkT0xEb2xkT0xEb2xkT0xEb2xkT0xEb2xk";

  @TempDir
  private Path folder = Path.of("");

  private final HttpClient client = HttpClient.newHttpClient();

  private static List<String> blocks(String language) throws IOException {
    Matcher blocks = Pattern.compile("^```" + language + "\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(Files.readString(PAGE));
    List<String> found = new ArrayList<>();
    while (blocks.find()) {
      found.add(blocks.group(1));
    }
    return found;
  }

  private FoliotServer server() {
    return FoliotServer.start(FoliotConfig.load(Map.of("data", folder.resolve("data").toString(), "port", "0",
        "log-level", "error"), Map.of(), null), new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private HttpResponse<String> send(String method, String url, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).method(method, BodyPublishers.ofString(body))
        .header("Content-Type", "application/json");
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private Process python(String program, Map<String, String> environment) throws IOException {
    Path file = Files.writeString(folder.resolve("program.py"), program);
    ProcessBuilder builder = new ProcessBuilder("python3", file.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    return builder.start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static void awaitListening(int port) throws InterruptedException {
    for (int i = 0; i < 300; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        assertThat(socket.isConnected()).isTrue();
        return;
      } catch (IOException e) {
        TimeUnit.MILLISECONDS.sleep(100);
      }
    }
    throw new AssertionError("the receiver does not listen: port=" + port);
  }

  private static String signature(String secret, String id, String timestamp, String body)
      throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring("whsec_".length())), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(US_ASCII));
    return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body.getBytes(UTF_8)));
  }

  @Test
  void thePythonReceiverActsOnceAndOnlyOnSignedCallbacks() throws Exception {
    int port = freePort();
    Process receiver = python(blocks("python").getFirst(),
        Map.of("FOLIOT_WEBHOOK_SECRET", SECRET, "PORT", Integer.toString(port)));
    try (FoliotServer server = server(); BufferedReader output = receiver.inputReader(UTF_8)) {
      awaitListening(port);
      String url = "http://127.0.0.1:" + port + "/";
      // During a rotation of secrets, the server signs with both secrets, and the receiver has one of them.
      assertThat(send("PUT", server.url() + "/v1/queues/orders", """
          {"delivery": {"type": "http", "url": "%s", "secret": "%s %s"}}""".formatted(url, OLD_SECRET, SECRET))
          .statusCode()).isEqualTo(201);
      assertThat(send("POST", server.url() + "/v1/queues/orders/tasks", """
          {"key": "order 7%ä", "delay": "0s", "payload": {"order": 7}}""").statusCode()).isEqualTo(201);
      assertThat(output.readLine()).isEqualTo("cancel order 7%ä {\"order\": 7}");

      String now = Long.toString(Instant.now().getEpochSecond());
      String old = Long.toString(Instant.now().getEpochSecond() - 600);
      assertThat(send("POST", url, "forged", "webhook-id", "a-9", "webhook-timestamp", now, "webhook-signature",
          signature(OLD_SECRET, "a-9", now, "forged"), "foliot-generation", "9").statusCode()).isEqualTo(401);
      assertThat(send("POST", url, "late", "webhook-id", "a-9", "webhook-timestamp", old, "webhook-signature",
          signature(SECRET, "a-9", old, "late"), "foliot-generation", "9").statusCode()).isEqualTo(401);
      assertThat(send("POST", url, "unsigned", "foliot-generation", "9").statusCode()).isEqualTo(401);
      // The second callback repeats the first; the third is of a generation that was replaced.
      for (String[] firing : new String[][]{{"a-9", "9"}, {"a-9", "9"}, {"a-8", "8"}, {"a-10", "10"}}) {
        assertThat(send("POST", url, firing[0], "webhook-id", firing[0], "webhook-timestamp", now,
            "webhook-signature", signature(SECRET, firing[0], now, firing[0]), "foliot-generation", firing[1],
            "foliot-key", "key").statusCode()).isEqualTo(200);
      }
      assertThat(output.readLine()).isEqualTo("cancel key a-9");
      assertThat(output.readLine()).isEqualTo("cancel key a-10");
    } finally {
      receiver.destroyForcibly();
    }
  }

  @Test
  void thePythonWorkerFinishesTheTaskThatItClaims() throws Exception {
    try (FoliotServer server = server()) {
      assertThat(send("PUT", server.url() + "/v1/queues/mails", """
          {"delivery": {"type": "pull", "timeout": "1m"}}""").statusCode()).isEqualTo(201);
      assertThat(send("POST", server.url() + "/v1/queues/mails/tasks", """
          {"key": "mail-7", "delay": "0s", "payload": {"to": "a"}}""").statusCode()).isEqualTo(201);
      Process worker = python(blocks("python").getLast(), Map.of("FOLIOT_URL", server.url()));
      try (BufferedReader output = worker.inputReader(UTF_8)) {
        assertThat(output.readLine()).isEqualTo("mail mail-7 {'to': 'a'}");
        String task = "";
        for (int i = 0; i < 300 && !task.contains("\"FINISHED\""); i++) {
          TimeUnit.MILLISECONDS.sleep(100);
          task = client.send(HttpRequest.newBuilder(URI.create(server.url() + "/v1/queues/mails/keys/mail-7")).build(),
              BodyHandlers.ofString()).body();
        }
        assertThat(task).contains("\"FINISHED\"");
      } finally {
        worker.destroyForcibly();
      }
    }
  }

  private String output(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.strip();
  }

  /** Needs sh, base64, od and openssl. */
  @Test
  @Tag("machine")
  void theShellFunctionSigns() throws Exception {
    Path script = Files.writeString(folder.resolve("sign.sh"), blocks("sh").getFirst()
        + "printf '%s' 'ä body' | signature \"$1\" a-9 1700000000\n");
    assertThat(output("sh", script.toString(), SECRET)).isEqualTo(signature(SECRET, "a-9", "1700000000", "ä body"));
  }

  /** Needs node. */
  @Test
  @Tag("machine")
  void theNodeFunctionVerifies() throws Exception {
    String now = Long.toString(Instant.now().getEpochSecond());
    Path script = Files.writeString(folder.resolve("verify.js"), blocks("js").getFirst() + """
        const [secret, timestamp, signature] = process.argv.slice(2);
        const headers = {"webhook-id": "a-9", "webhook-timestamp": timestamp, "webhook-signature": signature};
        console.log(verified(headers, Buffer.from("ä body"), secret));
        """);
    String good = signature(SECRET, "a-9", now, "ä body");
    String wrong = signature(OLD_SECRET, "a-9", now, "ä body");
    assertThat(output("node", script.toString(), SECRET, now, wrong + " " + good)).isEqualTo("true");
    assertThat(output("node", script.toString(), SECRET, now, wrong)).isEqualTo("false");
    assertThat(output("node", script.toString(), SECRET, "1700000000", good)).isEqualTo("false");
    assertThat(output("node", script.toString(), SECRET, now, "")).isEqualTo("false");
  }
}
