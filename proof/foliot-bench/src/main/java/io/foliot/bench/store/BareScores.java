package io.foliot.bench.store;

import io.foliot.backends.RedisServer;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Pipelined {@code ZADD} of existing members over bare sockets. It measures the same as {@code redis-benchmark -P},
 * which is not available from Maven Central.
 */
final class BareScores implements CallLoad {
  private static final String KEY = "scores";
  private static final int FIRST_SCORE = 1_000_000_000;

  private final RedisServer server;
  private final LiveKeys live;
  private final int batch;
  private final Socket[] sockets;
  private final InputStream[] replies;

  BareScores(RedisSite site, int callers, int live, int batch) throws IOException {
    server = site.fresh();
    this.batch = batch;
    this.live = new LiveKeys(live, callers, batch);
    sockets = new Socket[callers];
    replies = new InputStream[callers];
    for (int caller = 0; caller < callers; caller++) {
      sockets[caller] = new Socket(InetAddress.getLoopbackAddress(), server.port());
      sockets[caller].setTcpNoDelay(true);
      replies[caller] = new BufferedInputStream(sockets[caller].getInputStream(), 1 << 16);
    }
    for (int first = 0; first < this.live.count(); first += batch) {
      send(0, first, FIRST_SCORE, '1');
    }
  }

  /**
   * Sends a batch of commands in one write and reads the replies.
   *
   * @param expected the digit of each reply: 1 if the member is new, else 0
   */
  private void send(int caller, int first, int score, char expected) throws IOException {
    StringBuilder text = new StringBuilder();
    // A command in RESP is an array of strings with their lengths: 10 digits for the score, 6 for the member.
    for (int member = first; member < first + batch; member++) {
      text.append("*4\r\n$4\r\nZADD\r\n$").append(KEY.length()).append("\r\n").append(KEY).append("\r\n$10\r\n")
          .append(score).append("\r\n$6\r\n").append(100_000 + member).append("\r\n");
    }
    sockets[caller].getOutputStream().write(text.toString().getBytes(StandardCharsets.US_ASCII));
    byte[] reply = replies[caller].readNBytes(batch * ":0\r\n".length());
    for (int at = 0; at < reply.length; at += ":0\r\n".length()) {
      if (reply[at] != ':' || reply[at + 1] != expected) {
        throw new IllegalStateException("every ZADD must return the expected number: reply="
            + new String(reply, at, 2, StandardCharsets.US_ASCII) + ", expected=" + expected);
      }
    }
  }

  @Override
  public int call(int caller, int turn) throws IOException {
    send(caller, live.first(caller, turn), FIRST_SCORE + 1 + turn, '0');
    return batch;
  }

  @Override
  public void ensureDone(long items) {
    long moved = Long
        .parseLong(String.valueOf(server.command("ZCOUNT", KEY, Integer.toString(FIRST_SCORE + 1), "+inf")));
    long touched = live.touched().cardinality();
    if (moved != touched) {
      throw new IllegalStateException(
          "every member that was reset must have a new score: reset=" + touched + ", moved=" + moved);
    }
  }

  @Override
  public void close() {
    for (Socket socket : sockets) {
      try {
        socket.close();
      } catch (IOException e) {
        throw new IllegalStateException("cannot close a socket", e);
      }
    }
  }
}
