import com.sun.net.httpserver.HttpServer;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.client.FoliotClient;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.WebhookVerificationException;
import io.foliot.client.WebhookVerifier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/** Receives a signed callback of a server, and refuses a forged one. */
public class WebhookVerification {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"; // make your own; keep it secret

  public static void main(String[] args) throws IOException, InterruptedException {
    CountDownLatch received = new CountDownLatch(1);
    WebhookVerifier verifier = WebhookVerifier.of(SECRET);
    HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    receiver.createContext("/cancel", call -> {
      byte[] body = call.getRequestBody().readAllBytes(); // the signature covers the raw bytes
      int status = 200;
      try {
        verifier.verify(call.getRequestHeaders()::getFirst, body);
        System.out.println("cancel " + new String(body));
      } catch (WebhookVerificationException e) {
        System.out.println("refused: " + e.reason());
        status = 401;
      }
      call.sendResponseHeaders(status, -1);
      call.close();
      received.countDown();
    });
    receiver.start();
    URI url = URI.create("http://127.0.0.1:" + receiver.getAddress().getPort() + "/cancel");

    URI server = URI.create(System.getenv().getOrDefault("FOLIOT_URL", "http://127.0.0.1:7400"));
    try (FoliotClient client = FoliotClient.builder(server).build(); HttpClient forger = HttpClient.newHttpClient()) {
      client.putQueue(QueueConfig.of("signed", Target.http(url).with("secret", SECRET)));
      client.submit("signed", NewTask.builder().delay(Duration.ZERO).payload(Payload.json("{\"order\": 7}")).build());
      received.await();

      HttpRequest forged = HttpRequest.newBuilder(url).header("webhook-id", "1")
          .header("webhook-timestamp", Long.toString(Instant.now().getEpochSecond()))
          .header("webhook-signature", "v1,b3JkZXIgOA==").POST(HttpRequest.BodyPublishers.ofString("{\"order\": 8}"))
          .build();
      forger.send(forged, HttpResponse.BodyHandlers.discarding());
    }
    receiver.stop(0);
  }
}
