package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.api.Body;
import io.foliot.api.Target;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.Message;
import org.apache.hc.core5.http.message.BasicHttpRequest;
import org.apache.hc.core5.http.nio.entity.BasicAsyncEntityConsumer;
import org.apache.hc.core5.http.nio.entity.BasicAsyncEntityProducer;
import org.apache.hc.core5.http.nio.support.BasicRequestProducer;
import org.apache.hc.core5.http.nio.support.BasicResponseConsumer;
import org.apache.hc.core5.net.URIAuthority;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.reactor.IOReactorConfig;

/**
 * Compares the cost of a callback with that of a request by the bare client, which is the same HTTP client without
 * Foliot. All requests go to one receiver, which runs in a separate process. The bare client sends only the payload and
 * its content type. Prints requests per second, the processor time of this process per request, and whether the
 * receiver counted all requests that were sent.
 *
 * <pre>
 * mvn -q -pl :foliot-wheel,:foliot-core,:foliot-delivery-http test-compile dependency:build-classpath -Dmdep.outputFile=/tmp/cp
 * target=deliveries/foliot-delivery-http/target
 * java -cp $target/test-classes:$target/classes:$(cat /tmp/cp) io.foliot.delivery.http.CallbackBenchmark 128 5
 * </pre>
 *
 * <p>Arguments: number of concurrent attempts, and seconds per measurement. Each round has three measurements.
 */
final class CallbackBenchmark {
  private static final int ROUNDS = 3;
  private static final byte[] PAYLOAD = ("{\"order\":\"" + "x".repeat(87) + "\"}").getBytes(US_ASCII);
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  private final int concurrency;
  private final int seconds;
  private final int port;
  private final java.net.http.HttpClient control = java.net.http.HttpClient.newHttpClient();

  private CallbackBenchmark(int concurrency, int seconds, int port) {
    this.concurrency = concurrency;
    this.seconds = seconds;
    this.port = port;
  }

  /** A sender of one request, which reports whether the request succeeded. */
  private interface Sender {
    void send(Consumer<Boolean> done);
  }

  public static void main(String[] args) throws Exception {
    if (args.length == 1 && args[0].equals("receiver")) {
      receive();
      return;
    }
    Process receiver = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp",
        System.getProperty("java.class.path"), CallbackBenchmark.class.getName(), "receiver")
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader out = new BufferedReader(new InputStreamReader(receiver.getInputStream(), US_ASCII))) {
      new CallbackBenchmark(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(out.readLine()))
          .run();
    } finally {
      receiver.destroy();
    }
  }

  private void run() throws Exception {
    try (CloseableHttpAsyncClient client = bareClient();
        HttpDelivery delivery = new HttpDelivery(
            HttpDeliveryOptions.builder().allowLoopback(true).connectionsPerDestination(concurrency).maxInFlight(10_000)
                .ioThreads(1).build())) {
      client.start();
      DeliveryAttempt plain = attempt(Map.of("url", "http://localhost:" + port + "/hook"));
      DeliveryAttempt signed = attempt(Map.of("url", "http://localhost:" + port + "/hook", "secret", SECRET));
      for (int round = 1; round <= ROUNDS; round++) {
        measure(round, "bare client", done -> bare(client, done));
        measure(round, "callback", done -> deliver(delivery, plain, done));
        measure(round, "signed callback", done -> deliver(delivery, signed, done));
      }
    }
  }

  private CloseableHttpAsyncClient bareClient() {
    return HttpAsyncClients.custom()
        .setConnectionManager(PoolingAsyncClientConnectionManagerBuilder.create()
            .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.LAX).setMaxConnPerRoute(concurrency).build())
        .setIOReactorConfig(IOReactorConfig.custom().setIoThreadCount(1).build()).disableAutomaticRetries()
        .disableRedirectHandling().disableCookieManagement().disableAuthCaching().disableContentCompression().build();
  }

  private static DeliveryAttempt attempt(Map<String, String> settings) {
    return Attempts.attempt(new Target("http", settings, Duration.ofSeconds(10)),
        new Body(PAYLOAD, "application/json", Map.of()), "order-17");
  }

  private void bare(CloseableHttpAsyncClient client, Consumer<Boolean> done) {
    BasicHttpRequest request = new BasicHttpRequest("POST", "http", new URIAuthority("localhost", port), "/hook");
    request.addHeader("content-type", "application/json");
    var unused = client.execute(new BasicRequestProducer(request, new BasicAsyncEntityProducer(PAYLOAD, null)),
        new BasicResponseConsumer<>(new BasicAsyncEntityConsumer()),
        new FutureCallback<Message<HttpResponse, byte[]>>() {
          @Override
          public void completed(Message<HttpResponse, byte[]> message) {
            done.accept(message.getHead().getCode() == 200);
          }

          @Override
          public void failed(Exception failure) {
            done.accept(false);
          }

          @Override
          public void cancelled() {
            done.accept(false);
          }
        });
  }

  private static void deliver(HttpDelivery delivery, DeliveryAttempt attempt, Consumer<Boolean> done) {
    var unused = delivery.deliver(attempt).thenAccept(answer -> done.accept(answer instanceof Answer.Done));
  }

  private void measure(int round, String name, Sender sender) throws Exception {
    long counted = count();
    long processor = processorNanos();
    long start = System.nanoTime();
    long end = start + seconds * 1_000_000_000L;
    LongAdder sent = new LongAdder();
    LongAdder failed = new LongAdder();
    CountDownLatch chains = new CountDownLatch(concurrency);
    for (int i = 0; i < concurrency; i++) {
      chain(sender, end, sent, failed, chains);
    }
    chains.await();
    double elapsed = (System.nanoTime() - start) / 1e9;
    double micros = (processorNanos() - processor) / 1e3 / sent.sum();
    counted = count() - counted;
    System.out.printf(Locale.ROOT, "round %d  %-16s %8.0f/s  %5.1f us cpu  failed %d  counted %s%n", round, name,
        sent.sum() / elapsed, micros, failed.sum(), counted == sent.sum() ? "all" : counted + " of " + sent.sum());
  }

  private static void chain(Sender sender, long end, LongAdder sent, LongAdder failed, CountDownLatch chains) {
    sender.send(ok -> {
      sent.increment();
      if (!ok) {
        failed.increment();
      }
      if (System.nanoTime() < end) {
        chain(sender, end, sent, failed, chains);
      } else {
        chains.countDown();
      }
    });
  }

  private static long processorNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private long count() throws IOException, InterruptedException {
    var request = java.net.http.HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/count")).build();
    return Long.parseLong(control.send(request, BodyHandlers.ofString()).body());
  }

  /** A connection of the receiver. */
  private static final class Connection {
    final byte[] bytes = new byte[1 << 16];
    final ByteBuffer in = ByteBuffer.wrap(bytes);
    final ByteBuffer out = ByteBuffer.allocate(1 << 14);
  }

  /** Runs the receiver, which counts POSTs and answers all requests with as little work as possible. Never returns. */
  private static void receive() throws IOException {
    Selector selector = Selector.open();
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_024);
    server.configureBlocking(false);
    server.register(selector, SelectionKey.OP_ACCEPT);
    System.out.println(server.socket().getLocalPort());
    long[] posts = new long[1];
    while (true) {
      selector.select(key -> {
        try {
          if (key.isAcceptable()) {
            accept(server, selector);
          } else {
            serve((SocketChannel) key.channel(), (Connection) key.attachment(), posts);
          }
        } catch (IOException e) {
          key.cancel();
        }
      });
    }
  }

  private static void accept(ServerSocketChannel server, Selector selector) throws IOException {
    SocketChannel channel = server.accept();
    if (channel != null) {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.register(selector, SelectionKey.OP_READ, new Connection());
    }
  }

  private static void serve(SocketChannel channel, Connection connection, long[] posts) throws IOException {
    if (channel.read(connection.in) < 0) {
      channel.close();
      return;
    }
    connection.in.flip();
    connection.out.clear();
    int end = requestEnd(connection);
    while (end >= 0) {
      boolean post = connection.in.get(connection.in.position()) == 'P';
      connection.in.position(end);
      posts[0] += post ? 1 : 0;
      String body = post ? "ok" : Long.toString(posts[0]);
      connection.out
          .put(("HTTP/1.1 200 OK\r\ncontent-length: " + body.length() + "\r\n\r\n" + body).getBytes(US_ASCII));
      end = requestEnd(connection);
    }
    connection.in.compact();
    connection.out.flip();
    while (connection.out.hasRemaining()) {
      channel.write(connection.out);
    }
  }

  /** Returns the position after the first request, or -1 if it is incomplete. */
  private static int requestEnd(Connection connection) {
    byte[] bytes = connection.bytes;
    ByteBuffer in = connection.in;
    for (int i = in.position(); i + 3 < in.limit(); i++) {
      if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') {
        int end = i + 4 + contentLength(bytes, in.position(), i);
        return end <= in.limit() ? end : -1;
      }
    }
    return -1;
  }

  /** Returns the content-length, or 0 if there is none. Compares only three characters of a header, to save time. */
  private static int contentLength(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == '\n' && (bytes[i + 1] | 32) == 'c' && (bytes[i + 9] | 32) == 'l' && bytes[i + 15] == ':') {
        int value = 0;
        for (int j = i + 16; bytes[j] != '\r'; j++) {
          value = bytes[j] == ' ' ? value : value * 10 + bytes[j] - '0';
        }
        return value;
      }
    }
    return 0;
  }
}
