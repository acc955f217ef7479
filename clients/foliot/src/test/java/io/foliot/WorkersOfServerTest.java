package io.foliot;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests {@link Foliot#workers} after {@link Foliot#connect}, with a server in this process. */
final class WorkersOfServerTest extends JobWorkerContract {
  private FoliotServer server;

  @BeforeEach
  void startServer() {
    FoliotConfig config = FoliotConfig.load(Map.of("store", "memory", "port", "0"), Map.of(), null);
    server = FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.connect(URI.create(server.url()));
  }
}
