package io.foliot.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.Body;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.TaskRecord;
import io.foliot.delivery.http.HttpDelivery;
import io.foliot.delivery.http.HttpDeliveryOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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
 * Calls a receiver without a Foliot engine, in a process of its own: either with the HTTP client of callbacks alone
 * ({@code bare}), or with Foliot's delivery ({@code delivery}). Reads commands from standard input, one per line:
 * {@code bare} or {@code delivery}, the number of the first task, and the number of calls. When all calls of a
 * command have ended, prints a line with the number of failed calls.
 */
final class BareCaller {
  /** Prefix of each line that this process prints. */
  static final String READY = "caller: ";
  /** Number of concurrent calls, and maximum number of connections to the receiver. */
  private static final int CONCURRENCY = 256;
  /** A limit of the delivery that {@link #CONCURRENCY} calls do not reach. */
  private static final int MAX_IN_FLIGHT = 10_000;
  private static final int IO_THREADS = 1;
  private static final int OK = 200;

  private static final int LEASE_MILLIS = 30_000;
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  private final URI url;
  private final Target target;
  private final CloseableHttpAsyncClient client;
  private final HttpDelivery delivery;

  private BareCaller(URI url) {
    this.url = url;
    target = Target.http(url.toString());
    client = HttpAsyncClients.custom()
        .setConnectionManager(PoolingAsyncClientConnectionManagerBuilder.create()
            .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.LAX).setMaxConnPerRoute(CONCURRENCY).build())
        .setIOReactorConfig(IOReactorConfig.custom().setIoThreadCount(IO_THREADS).setTcpNoDelay(true).build())
        .disableAutomaticRetries().disableRedirectHandling().disableCookieManagement().disableAuthCaching()
        .disableContentCompression().build();
    client.start();
    delivery = new HttpDelivery(
        HttpDeliveryOptions.builder().allowLoopback(true).connectionsPerDestination(CONCURRENCY)
            .maxInFlight(MAX_IN_FLIGHT).ioThreads(IO_THREADS).build());
  }

  /** Sends one call. */
  private interface Sender {
    /** Sends the call with a number, and passes to {@code done} whether the call succeeded. */
    void send(int number, Consumer<Boolean> done);
  }

  /** Runs the commands of standard input. The argument is the receiver's URL. */
  public static void main(String[] args) throws IOException, InterruptedException {
    BareCaller caller = new BareCaller(URI.create(args[0]));
    System.out.println(READY + "started");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", 3);
      int first = Integer.parseInt(words[1]);
      int count = Integer.parseInt(words[2]);
      int failed = caller.run(words[0].equals("bare") ? caller::bare : caller::deliver, first, count);
      System.out.println(READY + "failed " + failed);
    }
    caller.client.close();
    caller.delivery.close();
  }

  /** Makes {@code count} calls in {@link #CONCURRENCY} concurrent chains. Returns the number of failed calls. */
  private int run(Sender sender, int first, int count) throws InterruptedException {
    AtomicInteger next = new AtomicInteger(first);
    AtomicInteger failed = new AtomicInteger();
    CountDownLatch chains = new CountDownLatch(CONCURRENCY);
    for (int i = 0; i < CONCURRENCY; i++) {
      chain(sender, next, first + count, failed, chains);
    }
    chains.await();
    return failed.get();
  }

  /** Makes the next call, and the following one when that call has ended; counts down if no call is left. */
  private static void chain(Sender sender, AtomicInteger next, int end, AtomicInteger failed, CountDownLatch chains) {
    int number = next.getAndIncrement();
    if (number >= end) {
      chains.countDown();
      return;
    }
    sender.send(number, ok -> {
      if (!ok) {
        failed.incrementAndGet();
      }
      chain(sender, next, end, failed, chains);
    });
  }

  private static byte[] payload(int number) {
    byte[] payload = TaskText.payloadBytes();
    TaskText.number(payload, 0, number);
    return payload;
  }

  private void bare(int number, Consumer<Boolean> done) {
    BasicHttpRequest request = new BasicHttpRequest("POST", "http", new URIAuthority(url.getHost(), url.getPort()),
        url.getPath());
    request.addHeader("content-type", "application/json");
    var unused = client.execute(
        new BasicRequestProducer(request, new BasicAsyncEntityProducer(payload(number), null)),
        new BasicResponseConsumer<>(new BasicAsyncEntityConsumer()),
        new FutureCallback<Message<HttpResponse, byte[]>>() {
          @Override
          public void completed(Message<HttpResponse, byte[]> message) {
            done.accept(message.getHead().getCode() == OK);
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

  private void deliver(int number, Consumer<Boolean> done) {
    long now = System.currentTimeMillis();
    TaskRecord task = TaskRecord.edit(TaskId.of(now, number, number), "bench-callbacks", null)
        .body(new Body(payload(number), "application/json", Map.of())).state(TaskState.RUNNING)
        .generation(now * 1_000).dueAt(now).attempt(1).token(new Token(number, now)).leaseEnd(now + LEASE_MILLIS)
        .wakeAt(now + LEASE_MILLIS).done();
    DeliveryAttempt attempt = new DeliveryAttempt(task, target, TRACE);
    var unused = delivery.deliver(attempt).thenAccept(answer -> done.accept(answer instanceof Answer.Done));
  }
}
