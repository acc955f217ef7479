package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A client on a TCP connection. It can send invalid requests. */
final class RawClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 10_000;

  private final Socket socket;

  RawClient(int port) {
    this(port, 0);
  }

  /** Connects with a receive buffer of a size in bytes, or of the usual size if it is 0. */
  RawClient(int port, int receiveBuffer) {
    try {
      socket = new Socket();
      if (receiveBuffer > 0) {
        socket.setReceiveBufferSize(receiveBuffer);
      }
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setSoTimeout(TIMEOUT_MILLIS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Sends a request, and returns its answer. The head and the body of the answer must each arrive in one piece, and the
   * body must not be empty.
   */
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

  /** Sends a request, or the part of it that the server reads before it closes the connection. */
  void send(String request) {
    try {
      socket.getOutputStream().write(request.getBytes(UTF_8));
      socket.getOutputStream().flush();
    } catch (IOException e) {
      // The server may close the connection before it has read all bytes; its answer is read afterwards.
    }
  }

  /** Ends the output to the server. */
  void endOutput() {
    try {
      socket.shutdownOutput();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The text that was received.
   *
   * @param ended whether the connection ended; false if the bound passed, or the text has the expected end
   */
  record Received(String text, boolean ended) {
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3}) ");

    /** Returns the status codes of all answers, in order. */
    List<Integer> statuses() {
      return STATUS.matcher(text).results().map(match -> Integer.valueOf(match.group(1))).toList();
    }
  }

  /** Reads until the connection ends, or until no byte arrives within the bound. */
  Received receive(Duration bound) {
    return receive(null, bound);
  }

  /** Reads until the received text ends with {@code end}, the connection ends, or no byte arrives in time. */
  Received receive(String end) {
    return receive(end, Duration.ofMillis(TIMEOUT_MILLIS));
  }

  private Received receive(@Nullable String end, Duration bound) {
    StringBuilder text = new StringBuilder();
    byte[] buffer = new byte[8 << 10];
    try {
      socket.setSoTimeout((int) bound.toMillis());
      int read = socket.getInputStream().read(buffer);
      while (read >= 0) {
        text.append(new String(buffer, 0, read, UTF_8));
        if (end != null && text.toString().endsWith(end)) {
          return new Received(text.toString(), false);
        }
        read = socket.getInputStream().read(buffer);
      }
      return new Received(text.toString(), true);
    } catch (SocketTimeoutException e) {
      return new Received(text.toString(), false);
    } catch (IOException e) {
      return new Received(text.toString(), true);
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
