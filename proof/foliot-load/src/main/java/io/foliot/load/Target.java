package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.api.Cancellation;
import io.foliot.api.QueueConfig;
import io.foliot.api.TaskState;
import io.foliot.client.FoliotClient;
import io.foliot.client.TaskPage;
import io.foliot.client.TaskQuery;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The server that is measured: its address, a client for calls that are not measured, and the bytes of requests. */
final class Target implements AutoCloseable {
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(60);
  /** Longest wait for a count. The server's counts may be ten seconds old. */
  private static final long COUNTS_NANOS = TimeUnit.SECONDS.toNanos(12);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int HTTP_PORT = 80;
  /** Maximum number of tasks that are cancelled concurrently. */
  private static final int PAGE = 200;
  private static final TaskQuery DELAYED = TaskQuery.all().inState(TaskState.DELAYED);

  private final URI url;
  private final String apiKey;
  private final @Nullable Child child;
  private final FoliotClient client;
  private final List<String> queues = new ArrayList<>();

  /**
   * Creates a target.
   *
   * @param apiKey the API key of the server; empty for none
   * @param child the process of the server, or null if the bench did not start it
   */
  Target(URI url, String apiKey, @Nullable Child child) {
    this.url = url;
    this.apiKey = apiKey;
    this.child = child;
    FoliotClient.Builder builder = FoliotClient.builder(url).requestTimeout(CALL_TIMEOUT);
    client = (apiKey.isEmpty() ? builder : builder.apiKey(apiKey)).build();
  }

  URI url() {
    return url;
  }

  FoliotClient client() {
    return client;
  }

  /** Returns the process of the server, or null if the bench did not start it. */
  @Nullable
  Child child() {
    return child;
  }

  InetSocketAddress address() {
    return new InetSocketAddress(url.getHost(), url.getPort() < 0 ? HTTP_PORT : url.getPort());
  }

  /** Returns the processor time of the server in nanoseconds, or 0 if the bench did not start it. */
  long processorNanos() {
    return child == null ? 0 : child.processorNanos();
  }

  /** Creates a pull queue without workers. Returns its name. */
  String pullQueue(String purpose) {
    return queue(purpose, io.foliot.api.Target.pull());
  }

  /** Creates a queue with callbacks. Returns its name. */
  String httpQueue(String purpose, String callbackUrl) {
    return queue(purpose, io.foliot.api.Target.http(callbackUrl));
  }

  private String queue(String purpose, io.foliot.api.Target target) {
    String name = "bench-" + purpose + "-" + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
    client.putQueue(QueueConfig.of(name, target));
    queues.add(name);
    return name;
  }

  /** Cancels the delayed tasks of the queues that this object created, and deletes these queues. */
  private void deleteQueues() {
    for (String queue : queues) {
      TaskPage page = client.listTasks(queue, DELAYED, PAGE, null);
      while (!page.tasks().isEmpty()) {
        List<CompletableFuture<Cancellation>> cancels = page.tasks().stream()
            .map(task -> client.async().cancel(task.id())).toList();
        cancels.forEach(CompletableFuture::join);
        page = client.listTasks(queue, DELAYED, PAGE, null);
      }
      client.deleteQueue(queue);
    }
  }

  /** Returns the head of a POST request whose body has {@code length} bytes. */
  private byte[] head(String path, String contentType, int length) {
    String authorization = apiKey.isEmpty() ? "" : "Authorization: Bearer " + apiKey + "\r\n";
    return ("POST " + path + " HTTP/1.1\r\nHost: " + url.getAuthority() + "\r\n" + authorization + "Content-Type: "
        + contentType + "\r\nContent-Length: " + length + "\r\n\r\n").getBytes(US_ASCII);
  }

  /** A request with room for the body after its head. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Blank(byte[] bytes, int bodyAt) {}

  /** Creates a request with room for a body of {@code length} bytes. */
  Blank blank(String path, String contentType, int length) {
    byte[] head = head(path, contentType, length);
    byte[] bytes = new byte[head.length + length];
    System.arraycopy(head, 0, bytes, 0, head.length);
    return new Blank(bytes, head.length);
  }

  /** Returns the sum of the values of a metric, over the lines that contain a label; 0 if there is no such line. */
  double metric(String name, String label) {
    try (HttpClient http = HttpClient.newHttpClient()) {
      String text = http.send(HttpRequest.newBuilder(url.resolve("/metrics")).build(), BodyHandlers.ofString()).body();
      return text.lines().filter(line -> line.startsWith(name + "{") && line.contains(label))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))).sum();
    } catch (IOException e) {
      throw new BenchException("cannot read the server's metrics: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  /** Returns the bytes of the server's heap in use, after a garbage collection if the bench started the server. */
  double liveHeapBytes() {
    if (child != null) {
      Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
      try {
        new ProcessBuilder(jcmd.toString(), Long.toString(child.pid()), "GC.run").redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor(30, TimeUnit.SECONDS);
      } catch (IOException e) {
        // This Java has no jcmd. The heap is then reported without a garbage collection.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return metric("jvm_memory_used_bytes", "area=\"heap\"");
  }

  /**
   * Returns the server's count of a queue's tasks in a state, or -1 if the server reports none. Polls for up to
   * {@link #COUNTS_NANOS} until the count is the expected one.
   */
  long awaitCount(String queue, String state, long expected) {
    long deadline = System.nanoTime() + COUNTS_NANOS;
    long found = count(queue, state);
    while (found != expected && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(POLL_NANOS);
      found = count(queue, state);
    }
    return found;
  }

  private long count(String queue, String state) {
    Map<String, Long> counts = client.getQueue(queue).counts();
    return counts.getOrDefault(state, -1L);
  }

  @Override
  public void close() {
    try {
      if (child == null) {
        deleteQueues();
      }
    } finally {
      client.close();
      if (child != null) {
        child.close();
      }
    }
  }
}
