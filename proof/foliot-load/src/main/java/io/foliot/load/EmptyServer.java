package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The web server of Foliot's API with an empty handler. The handler reads the request, and sends a response that is
 * some 30 bytes shorter than the response to a submit. The difference between the rates of this server and of Foliot is
 * the cost of Foliot.
 */
final class EmptyServer {
  /** The beginning of the line that reports readiness. The rest of the line is the server's URL. */
  static final String READY = "empty server at ";

  private static final Header JSON = HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/json");
  private static final byte[] ANSWER = ("{\"id\":\"01a2b3c4-0000-7000-8000-000000000000\",\"queue\":\"bench-submit\","
      + "\"key\":null,\"generation\":1795273200000000,\"dueAt\":\"2026-11-22T15:00:00.000Z\",\"state\":\"DELAYED\"}")
      .getBytes(US_ASCII);

  private EmptyServer() {}

  /** Serves until the process is ended. */
  public static void main(String[] args) {
    WebServer server = WebServer.builder().bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
        .shutdownHook(false)
        .connectionOptions(options -> options.tcpNoDelay(true)).protocolsDiscoverServices(false)
        .featuresDiscoverServices(false)
        .addProtocol(io.helidon.webserver.http1.Http1Config.builder().continueImmediately(false).build())
        .routing(HttpRouting.builder().any(EmptyServer::handle)).build();
    server.start();
    System.out.println(READY + "http://127.0.0.1:" + server.port());
  }

  private static void handle(ServerRequest request, ServerResponse response) {
    try (InputStream in = request.content().inputStream()) {
      in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    response.status(Status.CREATED_201).header(JSON).send(ANSWER);
  }
}
