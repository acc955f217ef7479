package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;

/** Sends what no proper client would. */
final class RawClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 10_000;

  private final Socket socket;

  RawClient(int port) {
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout(TIMEOUT_MILLIS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends bytes, and reads what comes first. */
  String exchange(String request) {
    try {
      socket.getOutputStream().write(request.getBytes(UTF_8));
      socket.getOutputStream().flush();
      byte[] buffer = new byte[8 << 10];
      int read = socket.getInputStream().read(buffer);
      StringBuilder answer = new StringBuilder(new String(buffer, 0, Math.max(0, read), UTF_8));
      while (read > 0 && answer.indexOf("\r\n\r\n") > 0 && answer.toString().endsWith("\r\n\r\n")) {
        read = socket.getInputStream().read(buffer);
        answer.append(new String(buffer, 0, Math.max(0, read), UTF_8));
      }
      return answer.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
