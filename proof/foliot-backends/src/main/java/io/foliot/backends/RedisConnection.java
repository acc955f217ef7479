package io.foliot.backends;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Redis server. It uses the protocol <a
 * href="https://redis.io/docs/latest/develop/reference/protocol-spec/">RESP2</a>. Not thread-safe.
 */
public final class RedisConnection implements AutoCloseable {
  private static final Duration BOUND = Duration.ofSeconds(10);

  private final Socket socket;
  private final InputStream in;

  /** Connects to a port of the loopback address. */
  public RedisConnection(int port) throws IOException {
    socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) BOUND.toMillis());
      socket.setSoTimeout((int) BOUND.toMillis());
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sends a command and returns its reply: a {@link String}, a {@link Long}, a {@link List} of replies, or null.
   *
   * @throws IllegalStateException if Redis answers with an error, whose text is the message
   * @throws IOException if the connection fails, for example if no data arrives for ten seconds
   */
  public @Nullable Object command(String... words) throws IOException {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
    for (String word : words) {
      byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
      request.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
      request.writeBytes(bytes);
      request.writeBytes(new byte[]{'\r', '\n'});
    }
    socket.getOutputStream().write(request.toByteArray());
    return reply();
  }

  private @Nullable Object reply() throws IOException {
    String line = line();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> throw new IllegalStateException(rest);
      case ':' -> Long.valueOf(rest);
      case '$' -> bulk(Integer.parseInt(rest));
      case '*' -> array(Integer.parseInt(rest));
      default -> throw new IOException("a reply does not begin with a type of RESP: line=" + line);
    };
  }

  private @Nullable String bulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length || !line().isEmpty()) {
      throw new EOFException("a reply ended early: length=" + length);
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private @Nullable List<@Nullable Object> array(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    List<@Nullable Object> replies = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      replies.add(reply());
    }
    return replies;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int read = in.read(); read != '\n'; read = in.read()) {
      if (read < 0) {
        throw new EOFException("the connection ended before its reply");
      }
      if (read != '\r') {
        line.append((char) read);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
