package io.foliot.kill;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A receiver of callbacks: a port of its own, and a thread for each request. */
final class Listener implements AutoCloseable {
  private static final int BACKLOG = 1_000;

  private final HttpServer server;
  private final ExecutorService handlers = Executors.newVirtualThreadPerTaskExecutor();

  /** @param host the address that it listens on */
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

  /** Does something where requests are met, which it may keep waiting. */
  void execute(Runnable action) {
    handlers.execute(action);
  }

  @Override
  public void close() {
    server.stop(0);
    handlers.shutdownNow();
  }
}
