package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that call a server behind a proxy with TLS, whose certificate the JDK does not trust. */
final class SecureServerTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir
  private Path folder = Path.of("");
  private final HttpsServer proxy;

  SecureServerTest() throws IOException {
    proxy = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @BeforeEach
  void startProxy() throws Exception {
    Path store = folder.resolve("keys.p12");
    Process keytool = new ProcessBuilder(System.getProperty("java.home") + "/bin/keytool", "-genkeypair", "-alias", "r",
        "-keyalg", "EC", "-dname", "CN=proxy", "-ext", "san=ip:127.0.0.1", "-keystore", store.toString(),
        "-storepass", new String(PASSWORD), "-storetype", "PKCS12").redirectErrorStream(true).start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    Files.writeString(folder.resolve("ca.pem"), "-----BEGIN CERTIFICATE-----\n"
        + Base64.getMimeEncoder().encodeToString(keys.getCertificate("r").getEncoded())
        + "\n-----END CERTIFICATE-----\n");
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), null, null);
    proxy.setHttpsConfigurator(new HttpsConfigurator(context));
    proxy.createContext("/", exchange -> {
      byte[] answer = "{\"queues\": []}".getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    proxy.start();
  }

  @AfterEach
  void stopProxy() {
    proxy.stop(0);
  }

  private Outcome queues(Map<String, String> environment) {
    return Outcome.of(environment, "queues", "--url", "https://127.0.0.1:" + proxy.getAddress().getPort());
  }

  @Test
  void theAuthorityOfACertificateCanBeNamed() {
    Outcome refused = queues(Map.of());
    assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(refused.err()).contains("is not trusted").contains("FOLIOT_CA");
    Outcome trusted = queues(Map.of("FOLIOT_CA", folder.resolve("ca.pem").toString()));
    assertThat(trusted.err()).isEmpty();
    assertThat(trusted.exitCode()).isEqualTo(ExitCode.OK);
  }

  @Test
  void aFileWithoutCertificatesIsAUsageError() throws Exception {
    Path empty = Files.writeString(folder.resolve("empty.pem"), "");
    Outcome without = queues(Map.of("FOLIOT_CA", empty.toString()));
    assertThat(without.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(without.err()).contains("FOLIOT_CA: expected a file of certificates (PEM)").contains("empty.pem");
    assertThat(queues(Map.of("FOLIOT_CA", folder.resolve("none").toString())).exitCode()).isEqualTo(ExitCode.USAGE);
  }
}
