import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Simulates devices, and receives their alarms. Each device has a task that is due when the device has been silent for
 * too long, and each heartbeat pushes that task back. Some devices fall silent for some time, and only these may raise
 * an alarm. The program exits with 0 if each silent device has raised an alarm, no alarm was false, and the server knew
 * each device.
 *
 * <p>java examples/device-monitor/Devices.java --devices 100000 --every 5s --silence 20s --silent 50 --for 90s
 *
 * <p>{@code --silence} is at least twice {@code --every}, and {@code --for} at least four times {@code --silence}.
 */
public class Devices {
  private static final int KEYS_PER_CALL = 5_000;
  private static final int CALLS_AT_ONCE = 8;
  private static final String QUEUE = "devices";
  private static final int MOMENTS_PER_SECOND = 10;

  private final HttpClient http = HttpClient.newHttpClient();
  private final String url;
  private final String key = System.getenv("FOLIOT_API_KEY");
  private final int devices;
  private final long everyMillis;
  private final long silenceMillis;
  private final int silent;
  private final long runMillis;

  private final AtomicLongArray lastBeat;
  private final AtomicLongArray firstAlarm;
  private final AtomicLong beats = new AtomicLong();
  private final AtomicLong alarms = new AtomicLong();
  private final AtomicLong falseAlarms = new AtomicLong();
  private final AtomicLong missing = new AtomicLong();
  private final AtomicLong maxLateMillis = new AtomicLong();
  private final Queue<Long> lateness = new ConcurrentLinkedQueue<>();
  private final AtomicInteger quiet = new AtomicInteger();

  private Devices(Map<String, String> options) {
    url = options.getOrDefault("url", System.getenv().getOrDefault("FOLIOT_URL", "http://127.0.0.1:7400"));
    devices = Integer.parseInt(options.getOrDefault("devices", "100000"));
    everyMillis = millis(options.getOrDefault("every", "5s"));
    silenceMillis = millis(options.getOrDefault("silence", "20s"));
    silent = Integer.parseInt(options.getOrDefault("silent", "50"));
    runMillis = millis(options.getOrDefault("for", "90s"));
    if (silent > devices || silenceMillis < 2 * everyMillis || runMillis < 4 * silenceMillis) {
      throw new IllegalArgumentException("expected --silence of at least twice --every, --for of at least"
          + " four times --silence, and --silent of at most --devices");
    }
    lastBeat = new AtomicLongArray(devices);
    firstAlarm = new AtomicLongArray(devices);
  }

  public static void main(String[] args) throws Exception {
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i + 1 < args.length; i += 2) {
      options.put(args[i].substring(2), args[i + 1]);
    }
    Devices devices;
    try {
      devices = new Devices(options);
    } catch (IllegalArgumentException | DateTimeException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    try {
      System.exit(devices.run() ? 0 : 1);
    } catch (CompletionException e) {
      System.err.println("a call to the server at " + devices.url + " failed (./foliot server starts one): "
          + e.getCause());
      System.exit(2);
    }
  }

  /** Returns the milliseconds of a duration such as 90s or 2500ms. */
  private static long millis(String text) {
    return Duration.parse("PT" + text.replace("ms", "").toUpperCase()
        + (text.endsWith("ms") ? "S" : "")).toMillis() / (text.endsWith("ms") ? 1_000 : 1);
  }

  private boolean run() throws Exception {
    HttpServer receiver = receiver();
    receiver.start();
    String settings = "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:"
        + receiver.getAddress().getPort() + "/alarm\", \"timeout\": \"5s\"}, \"paused\": ";
    // Tasks of an earlier run must not fire before they are reset.
    call("PUT", "/v1/queues/" + QUEUE, settings + "true}").join();
    register();
    call("PUT", "/v1/queues/" + QUEUE, settings + "false}").join();
    long begun = System.currentTimeMillis();
    long quietFrom = begun + silenceMillis;
    long quietTo = begun + runMillis - silenceMillis;
    heartbeats(begun, quietFrom, quietTo);
    // The heartbeats have ended; without this pause, every device would raise an alarm.
    call("POST", "/v1/queues/" + QUEUE + "/pause", "").join();
    receiver.stop(0);
    return verdict(quietFrom);
  }

  /**
   * Returns the receiver of alarms. Its answer has the header {@code foliot-next}, so an alarm repeats until the device
   * is back.
   */
  private HttpServer receiver() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 1_000);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/alarm", call -> {
      long now = System.currentTimeMillis();
      call.getRequestBody().readAllBytes();
      String name = call.getRequestHeaders().getFirst("foliot-key");
      long dueAt = Instant.parse(call.getRequestHeaders().getFirst("foliot-due-at")).toEpochMilli();
      int device = Integer.parseInt(name.substring(name.indexOf('-') + 1));
      boolean tooEarly = now < lastBeat.get(device) + silenceMillis;
      boolean wasSilent = device < silent;
      if (!wasSilent || tooEarly) {
        falseAlarms.incrementAndGet();
        System.out.println("FALSE ALARM: " + name + ", heard " + (now - lastBeat.get(device)) + " ms ago");
      }
      firstAlarm.compareAndSet(device, 0, now);
      alarms.incrementAndGet();
      maxLateMillis.accumulateAndGet(now - dueAt, Math::max);
      lateness.add(now - dueAt);
      call.getResponseHeaders().add("foliot-next", "PT" + silenceMillis / 1e3 + "S");
      call.sendResponseHeaders(200, -1);
      call.close();
    });
    return server;
  }

  private void register() {
    long begun = System.nanoTime();
    for (int from = 0; from < devices; from += KEYS_PER_CALL) {
      String tasks = IntStream.range(from, Math.min(devices, from + KEYS_PER_CALL))
          .mapToObj(i -> "{\"key\": \"device-" + i + "\", \"delay\": \"" + silenceMillis + "ms\", \"payload\": {\"device\": "
              + i + "}}")
          .collect(Collectors.joining(",", "[", "]"));
      long now = System.currentTimeMillis();
      call("POST", "/v1/queues/" + QUEUE + "/tasks:batch", tasks).join();
      IntStream.range(from, Math.min(devices, from + KEYS_PER_CALL)).forEach(i -> lastBeat.set(i, now));
    }
    System.out.printf("registered %,d devices in %.1f s%n", devices, (System.nanoTime() - begun) / 1e9);
  }

  /**
   * Sends heartbeats ten times a second, each time for an equal part of the devices, so that each device sends one
   * heartbeat per {@code everyMillis}.
   */
  private void heartbeats(long begun, long quietFrom, long quietTo) throws InterruptedException {
    Semaphore free = new Semaphore(CALLS_AT_ONCE);
    long moments = Math.max(1, everyMillis * MOMENTS_PER_SECOND / 1_000);
    long lastPrinted = 0;
    for (long moment = 0; System.currentTimeMillis() < begun + runMillis; moment++) {
      long now = System.currentTimeMillis();
      boolean isQuiet = now >= quietFrom && now < quietTo;
      quiet.set(isQuiet ? silent : 0);
      int part = (int) (moment % moments);
      int[] due = IntStream.range(0, devices).filter(i -> i % moments == part && !(isQuiet && i < silent)).toArray();
      for (int from = 0; from < due.length; from += KEYS_PER_CALL) {
        beat(Arrays.copyOfRange(due, from, Math.min(due.length, from + KEYS_PER_CALL)), free);
      }
      long second = (now - begun) / 1_000;
      if (second != lastPrinted) {
        lastPrinted = second;
        System.out.printf("%3d s  %,9d heartbeats  %,4d silent  %,4d alarms  %d ms late at most%n", second, beats.get(),
            quiet.get(), alarms.get(), maxLateMillis.get());
      }
      Thread.sleep(Math.max(0, begun + (moment + 1) * 1_000 / MOMENTS_PER_SECOND - System.currentTimeMillis()));
    }
    free.acquire(CALLS_AT_ONCE);
  }

  private void beat(int[] due, Semaphore free) throws InterruptedException {
    String keys = Arrays.stream(due).mapToObj(i -> "\"device-" + i + "\"").collect(Collectors.joining(",", "[", "]"));
    free.acquire();
    long now = System.currentTimeMillis();
    call("POST", "/v1/queues/" + QUEUE + "/keys:touch", "{\"keys\": " + keys + ", \"delay\": \"" + silenceMillis
        + "ms\"}").whenComplete((answer, failure) -> {
          free.release();
          if (failure != null) {
            System.out.println("a call with " + due.length + " heartbeats failed: " + failure.getMessage());
            return;
          }
          // The server counts the deadline from when it handles the call. This is at `now` or later.
          Arrays.stream(due).forEach(i -> lastBeat.set(i, now));
          beats.addAndGet(due.length);
          int unknown = answer.split("NOT_FOUND", -1).length - 1;
          missing.addAndGet(unknown);
        });
  }

  private boolean verdict(long quietFrom) {
    int raised = 0;
    for (int i = 0; i < silent; i++) {
      raised += firstAlarm.get(i) >= quietFrom ? 1 : 0;
    }
    long[] late = lateness.stream().mapToLong(Long::longValue).sorted().toArray();
    System.out.printf("%,d heartbeats, %d of them of unknown devices; %d of %d silent devices reported,"
        + " %d alarms in all, late by %d ms at the median, %d ms at the 99th percentile, %d ms at most;"
        + " %d false alarms%n", beats.get(), missing.get(), raised, silent, alarms.get(), rank(late, 0.5),
        rank(late, 0.99), maxLateMillis.get(), falseAlarms.get());
    return raised == silent && falseAlarms.get() == 0 && missing.get() == 0;
  }

  private static long rank(long[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(share * sorted.length) - 1];
  }

  private CompletableFuture<String> call(String method, String path, String body) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(30))
        .header("Content-Type", "application/json").method(method, HttpRequest.BodyPublishers.ofString(body));
    if (key != null) {
      request.header("Authorization", "Bearer " + key);
    }
    return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()).thenApply(answer -> {
      if (answer.statusCode() >= 300) {
        throw new IllegalStateException(method + " " + path + " was answered " + answer.statusCode() + ": "
            + answer.body());
      }
      return answer.body();
    });
  }
}
