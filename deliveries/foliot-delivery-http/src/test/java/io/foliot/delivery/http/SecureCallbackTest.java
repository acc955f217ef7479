package io.foliot.delivery.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.SystemClock;
import io.foliot.core.delivery.Answer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Callbacks over TLS. */
class SecureCallbackTest {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final Resolver HERE = host -> List.of(InetAddress.getByAddress(new byte[]{127, 0, 0, 1}));

  @TempDir
  private static @Nullable Path folder;
  private static @Nullable SSLContext tls;

  /** Creates a key and a certificate for receiver.test. Only these tests trust the certificate. */
  @BeforeAll
  static void makeKey() throws Exception {
    Path store = Path.of(String.valueOf(folder), "keys.p12");
    Process keytool = new ProcessBuilder(System.getProperty("java.home") + "/bin/keytool", "-genkeypair", "-alias", "r",
        "-keyalg", "EC", "-dname", "CN=receiver.test", "-ext", "san=dns:receiver.test", "-keystore", store.toString(),
        "-storepass", new String(PASSWORD), "-storetype", "PKCS12").redirectErrorStream(true).start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, PASSWORD);
    TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trusted.init(keys);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    tls = context;
  }

  private static SSLContext context() {
    SSLContext context = tls;
    assert context != null;
    return context;
  }

  private static HttpDelivery delivery(@Nullable SSLContext trust) {
    return new HttpDelivery(HttpDeliveryOptions.builder().allowLoopback(true).tls(trust).build(), new SystemClock(),
        HERE,
        null);
  }

  /**
   * Returns a receiver with TLS.
   *
   * @param names for each connection, this queue gets the host name that the client sends by SNI
   */
  private static ScriptedReceiver receiver(BlockingQueue<String> names) throws Exception {
    return receiver(names, ScriptedReceiver.always(ScriptedReceiver.ok()));
  }

  private static ScriptedReceiver receiver(BlockingQueue<String> names, ScriptedReceiver.Reply reply) throws Exception {
    SSLServerSocket server = (SSLServerSocket) context().getServerSocketFactory().createServerSocket(0, 50,
        InetAddress.getByAddress(new byte[]{127, 0, 0, 1}));
    return new ScriptedReceiver(reply, server) {
      @Override
      void accepted(Socket socket) {
        ((SSLSocket) socket).addHandshakeCompletedListener(event -> {
          ExtendedSSLSession session = (ExtendedSSLSession) event.getSession();
          session.getRequestedServerNames().forEach(name -> names.add(((SNIHostName) name).getAsciiName()));
        });
      }
    };
  }

  @Test
  void tlsChecksTheNameAlthoughTheAddressIsPinned() throws Exception {
    BlockingQueue<String> names = new LinkedBlockingQueue<>();
    try (ScriptedReceiver receiver = receiver(names); HttpDelivery delivery = delivery(context())) {
      String port = ":" + receiver.port();
      for (int i = 0; i < 3; i++) {
        assertThat(Attempts.answer(delivery, "https://receiver.test" + port + "/")).isInstanceOf(Answer.Done.class);
      }
      assertThat(names.poll(20, TimeUnit.SECONDS)).isEqualTo("receiver.test");
      assertThat(receiver.connections).hasValue(1);
      Answer other = Attempts.answer(delivery, "https://other.test" + port + "/");
      assertThat(other).isInstanceOf(Answer.Retry.class);
      assertThat(other.detail()).containsAnyOf("certificate", "TLS failed");
      assertThat(receiver.requests).hasValue(3);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"EARLY_HINTS", "LONG_HINTS", "CHUNK_EXTENSIONS"})
  void aFloodOverTlsDelaysNoOtherCallback(FloodTest.Flood flood) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    try (ScriptedReceiver flooding = receiver(new LinkedBlockingQueue<>(), (request, out) -> flood.send(out, begun));
        ScriptedReceiver healthy = receiver(new LinkedBlockingQueue<>());
        HttpDelivery delivery = delivery(context())) {
      CompletableFuture<Answer> attacked = delivery.deliver(Attempts.attempt(
          Attempts.target("https://receiver.test:" + flooding.port() + "/", Duration.ofMinutes(5))))
          .toCompletableFuture();
      assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
      for (int i = 0; i < 20; i++) {
        assertThat(Attempts.answer(delivery, "https://receiver.test:" + healthy.port() + "/"))
            .isInstanceOf(Answer.Done.class);
      }
      assertThat(attacked.get(20, TimeUnit.SECONDS)).isInstanceOf(Answer.Retry.class);
      assertThat(flooding.closedByClient.poll(20, TimeUnit.SECONDS)).as("the connection is closed").isTrue();
    }
  }

  @Test
  void aCertificateWithoutATrustedIssuerIsRefused() throws Exception {
    try (ScriptedReceiver receiver = receiver(new LinkedBlockingQueue<>()); HttpDelivery delivery = delivery(null)) {
      Answer answer = Attempts.answer(delivery, "https://receiver.test:" + receiver.port() + "/");
      assertThat(answer).isInstanceOf(Answer.Retry.class);
      assertThat(answer.detail()).contains("TLS failed", "nothing was sent");
      assertThat(receiver.requests).hasValue(0);
    }
  }
}
