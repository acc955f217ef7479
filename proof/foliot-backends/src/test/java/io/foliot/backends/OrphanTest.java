package io.foliot.backends;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class OrphanTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  /** A process that starts servers, prints their ports, and waits until the test kills it. */
  static final class Parent {
    private Parent() {}

    public static void main(String[] args) throws Exception {
      PostgresServer postgres = PostgresServer.start();
      RedisServer redis = RedisServer.start();
      System.out.println(postgres.port() + " " + redis.port());
      Thread.sleep(Duration.ofMinutes(5));
    }
  }

  @Test
  void serversDieWithAKilledJvm() throws Exception {
    Process parent = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), Parent.class.getName()).redirectError(Redirect.INHERIT).start();
    String[] ports;
    try (BufferedReader out = new BufferedReader(
        new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
      ports = out.readLine().split(" ");
      for (String port : ports) {
        assertThat(listens(Integer.parseInt(port))).isTrue();
      }
    } finally {
      assertThat(parent.destroyForcibly().waitFor()).isNotZero();
    }
    for (String port : ports) {
      Await.until("nothing listens", BOUND, () -> !listens(Integer.parseInt(port)));
    }
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (ConnectException e) {
      return false;
    } catch (SocketException e) {
      // A server that ends during the handshake resets the connection. Its socket may be open until the next attempt.
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
