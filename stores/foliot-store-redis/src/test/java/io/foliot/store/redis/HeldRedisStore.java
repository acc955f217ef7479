package io.foliot.store.redis;

import io.foliot.core.store.TaskStore;
import io.foliot.testkit.HeldStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** A store behind a proxy that holds the bytes of calls of the script that writes the results of the general path. */
final class HeldRedisStore extends HeldStore {
  private static final int BUFFER = 1 << 16;

  private final int port;
  private final ServerSocket listener;
  private final List<String> writes;
  private final TaskStore store;

  HeldRedisStore(int port, String namespace, int slots) {
    this.port = port;
    // The text of a script, and so its hash, depends on whether the server is of version 7.
    writes = Stream.of(6, 7).map(version -> Script.load(Script.SERVER_TIME, version).get(Script.WRITE))
        .map(source -> source == null ? "" : source.sha()).toList();
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon("held-redis-accept", this::accept);
    store = RedisStore.open(RedisOptions.builder("redis://127.0.0.1:" + listener.getLocalPort()).namespace(namespace)
        .slots(slots).build());
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Accepts connections until the listener is closed. */
  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
        daemon("held-redis-requests", () -> copy(client, server, true));
        daemon("held-redis-replies", () -> copy(server, client, false));
      } catch (IOException e) {
        // The listener was closed, or a connection broke. A store whose connection breaks reports that itself.
      }
    }
  }

  /** Copies bytes until one of the two connections is closed, and then closes both. */
  private void copy(Socket from, Socket to, boolean requests) {
    byte[] buffer = new byte[BUFFER];
    try (from; to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        if (requests) {
          sending(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
        }
        out.write(buffer, 0, count);
        out.flush();
      }
    } catch (IOException e) {
      // Both connections are closed now, so the store fails its calls.
      return;
    }
  }

  private void sending(String bytes) {
    if (writes.stream().anyMatch(bytes::contains)) {
      beforeWrite();
    }
  }

  @Override
  public TaskStore store() {
    return store;
  }

  @Override
  protected void closeStore() {
    store.close();
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
