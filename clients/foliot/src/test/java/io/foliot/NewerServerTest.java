package io.foliot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.foliot.client.UnknownOutcomeException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of a connection to a newer server, whose results this version of the client cannot decode. */
final class NewerServerTest {
  private static final String RESULT = """
      {"result":"FROM_THE_FUTURE","id":"0190b3c2-0000-7000-8000-000000000001","queue":"q","key":"k","generation":1,
       "dueAt":"2026-03-01T10:00:00Z","state":"DELAYED"}""";
  private static final String QUEUE = """
      {"queue":"q","delivery":{"type":"pull"}}""";

  private HttpServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      String path = exchange.getRequestURI().getPath();
      String body = path.endsWith("/queues/q")
          ? QUEUE
          : path.endsWith("keys:touch")
              ? "{\"results\":[" + RESULT + "]}"
              : RESULT;
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      byte[] bytes = body.getBytes(UTF_8);
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    });
    server.start();
  }

  @AfterEach
  void stopServer() {
    server.stop(0);
  }

  @Test
  void anUnknownResultIsAnError() {
    try (Foliot foliot = Foliot.connect(URI.create("http://127.0.0.1:" + server.getAddress().getPort()))) {
      Tasks<String> tasks = foliot.tasks("q", String.class);
      for (ThrowingCallable call : List.<ThrowingCallable>of(() -> tasks.now().submit("x"),
          () -> tasks.key("k").touch(Duration.ofHours(1)), () -> tasks.key("k").cancel())) {
        assertThatThrownBy(call).isInstanceOf(UnknownOutcomeException.class).rootCause()
            .hasMessageContaining("update io.foliot:foliot-client").hasMessageContaining("FROM_THE_FUTURE");
      }
    }
  }
}
