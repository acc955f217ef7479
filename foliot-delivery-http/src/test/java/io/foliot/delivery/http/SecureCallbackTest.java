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
import java.util.List;
import java.util.concurrent.BlockingQueue;
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

class SecureCallbackTest {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final Resolver HERE = host -> List.of(InetAddress.getByAddress(new byte[]{127, 0, 0, 1}));

  @TempDir
  private static @Nullable Path folder;
  private static @Nullable SSLContext tls;

  /** A key for receiver.test that nobody but these tests trusts. */
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
    return new HttpDelivery(HttpDeliveryOptions.DEFAULT.withAllowLoopback(true).withTls(trust), new SystemClock(), HERE,
        null);
  }

  /** What the client asked for by SNI, once for each connection. */
  private static ScriptedReceiver receiver(BlockingQueue<String> names) throws Exception {
    SSLServerSocket server = (SSLServerSocket) context().getServerSocketFactory().createServerSocket(0, 50,
        InetAddress.getByAddress(new byte[]{127, 0, 0, 1}));
    return new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()), server) {
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
  void theNameIsAskedForAndCheckedThoughTheAddressIsPinned() throws Exception {
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

  @Test
  void aCertificateThatNobodyVouchesForIsNotTrusted() throws Exception {
    try (ScriptedReceiver receiver = receiver(new LinkedBlockingQueue<>()); HttpDelivery delivery = delivery(null)) {
      Answer answer = Attempts.answer(delivery, "https://receiver.test:" + receiver.port() + "/");
      assertThat(answer).isInstanceOf(Answer.Retry.class);
      assertThat(answer.detail()).contains("TLS failed");
      assertThat(receiver.requests).hasValue(0);
    }
  }
}
