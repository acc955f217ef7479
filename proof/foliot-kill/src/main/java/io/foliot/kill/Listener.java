package io.foliot.kill;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An HTTP server for callbacks, with a free port and a virtual thread for each request. */
final class Listener implements AutoCloseable {
  private static final int BACKLOG = 1_000;

  private final HttpServer server;
  private final ExecutorService handlers = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * Starts to listen.
   *
   * @param host the address to listen on
   */
  Listener(String host, HttpHandler handler) {
    try {
      server = HttpServer.create(new InetSocketAddress(host, 0), BACKLOG);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/", handler);
    server.setExecutor(handlers);
    server.start();
  }

  URI url() {
    return URI.create("http://" + server.getAddress().getHostString() + ":" + server.getAddress().getPort() + "/");
  }

  /** Runs an action, which may block, in a virtual thread of its own. */
  void execute(Runnable action) {
    handlers.execute(action);
  }

  @Override
  public void close() {
    server.stop(0);
    handlers.shutdownNow();
  }
}
