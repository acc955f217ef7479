package io.foliot.server;

import static java.util.Objects.requireNonNull;

import io.foliot.api.QueueConfig;
import io.foliot.core.Scheduler;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskReason;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.TaskStore;
import io.foliot.jobs.Jobs;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.metrics.Prometheus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A server on a free port of loopback, and a client that checks answers against the description of the API. It does not
 * check the answers to {@link #send} and {@link #sendBytes}. By default the server keeps tasks in memory. Tests can
 * replace results of the engine.
 */
final class Rig implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long POLL_NANOS = 20_000_000;
  private static final Map<String, String> MEMORY = Map.of("store", "memory", "port", "0", "call-timeout", "2s",
      "stop-timeout", "1s", "stop-grace", "0s", "node", "test");

  final FoliotServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final Description description;
  private @Nullable String apiKey;

  /** Result of all asynchronous calls to the engine except stop; null if each call returns the engine's own result. */
  volatile @Nullable CompletableFuture<?> engineResult;

  /** Reasons for which workers get no tasks, instead of the engine's own answer; null for the engine's. */
  volatile @Nullable Set<TaskReason> heldBack;

  /** Queue that replaces the queue that the engine knows, or null. */
  volatile @Nullable QueueConfig knownQueue;

  /** Fleet that replaces the fleet of the engine, or null. */
  volatile @Nullable Fleet fleet;

  private Rig(Map<String, String> flags, UnaryOperator<ServerRuntime> replace) {
    Map<String, String> all = new LinkedHashMap<>(MEMORY);
    all.putAll(flags);
    FoliotConfig config = FoliotConfig.load(all, Map.of(), null);
    TimeSource clock = new SystemClock();
    SecureRandom random = new SecureRandom();
    Prometheus prometheus = new Prometheus(config.limits().metricQueues());
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    ServerRuntime real = ServerRuntime.open(config, true, clock, prometheus.meter(), prometheus.meter(), random,
        failure::complete);
    ServerRuntime runtime = replace
        .apply(new ServerRuntime(real.store(), replaceable(real.scheduler()), real.jobs()));
    server = FoliotServer.start(config, runtime, prometheus, failure, clock, random,
        new PrintStream(printed, true, StandardCharsets.UTF_8));
    description = new Description(JsonTree.parse(send("GET", "/openapi.json", null, Map.of()).body()));
  }

  /** Starts a server with the flags {@link #MEMORY}. */
  static Rig start() {
    return start(Map.of());
  }

  /** Starts a server with the flags {@link #MEMORY} and these flags, which override {@code MEMORY}. */
  static Rig start(Map<String, String> flags) {
    return over(flags, UnaryOperator.identity());
  }

  /**
   * Starts a server over a store and a wrapper of it. API keys, backups, metrics of the store and the readiness check
   * use the wrapper; the engine uses the store itself.
   */
  static Rig over(Map<String, String> flags, UnaryOperator<TaskStore> wrap) {
    return new Rig(flags,
        runtime -> new ServerRuntime(wrap.apply(runtime.store()), runtime.scheduler(), runtime.jobs()));
  }

  /** Starts a server whose calls about jobs use a wrapper of its store; all other parts use the store itself. */
  static Rig withJobsOver(UnaryOperator<TaskStore> wrap) {
    return new Rig(Map.of(), runtime -> {
      TaskStore wrapped = wrap.apply(runtime.store());
      return new ServerRuntime(runtime.store(), runtime.scheduler(),
          new Jobs(wrapped, drafts -> wrapped.submit(drafts).toCompletableFuture()));
    });
  }

  /** Returns a scheduler that calls the real one unless a test has set a result or a fleet. */
  private Scheduler replaceable(Scheduler real) {
    return (Scheduler) Proxy.newProxyInstance(Rig.class.getClassLoader(), new Class<?>[]{Scheduler.class},
        (proxy, method, arguments) -> {
          CompletableFuture<?> result = engineResult;
          if (result != null && method.getReturnType() == CompletableFuture.class && !method.getName().equals("stop")) {
            return result;
          }
          QueueConfig known = knownQueue;
          if (known != null && method.getName().equals("queue")) {
            return Optional.of(known);
          }
          Set<TaskReason> reasons = heldBack;
          if (reasons != null && method.getName().equals("heldBack")) {
            return reasons;
          }
          Fleet replacement = fleet;
          if (replacement != null && method.getName().equals("fleet")) {
            return replacement;
          }
          try {
            return method.invoke(real, arguments);
          } catch (InvocationTargetException e) {
            throw requireNonNull(e.getCause());
          }
        });
  }

  String printed() {
    return printed.toString(StandardCharsets.UTF_8);
  }

  /** Sets the API key of all later requests; null for none. */
  Rig as(@Nullable String newApiKey) {
    apiKey = newApiKey;
    return this;
  }

  /** An answer of the server. The names of headers are in lower case. */
  record Answer(int status, Map<String, String> headers, String body) {
    @Nullable
    Object json() {
      return JsonTree.parse(body);
    }

    /** Returns the part of the body at a path of member names and indexes. */
    @Nullable
    Object at(Object... path) {
      return JsonTree.at(json(), path);
    }

    String text(Object... path) {
      return (String) requireNonNull(at(path), () -> "in " + body);
    }

    List<?> list(Object... path) {
      return (List<?>) requireNonNull(at(path), () -> "in " + body);
    }

    /** Returns the type of a problem without its prefix, such as {@code unknown-queue}. */
    String problem() {
      String type = text("type");
      return type.substring(type.lastIndexOf(':') + 1);
    }
  }

  Answer get(String path) {
    return call("GET", path, null, Map.of());
  }

  Answer delete(String path) {
    return call("DELETE", path, null, Map.of());
  }

  Answer post(String path, String json) {
    return call("POST", path, json, Map.of("Content-Type", "application/json"));
  }

  Answer put(String path, String json) {
    return call("PUT", path, json, Map.of("Content-Type", "application/json"));
  }

  /** Reads a path until its answer meets a condition; fails after {@link #PATIENCE}. */
  Answer eventually(String path, Predicate<Answer> condition) {
    return eventually(() -> get(path), condition);
  }

  /** Repeats a call until its answer meets a condition; fails after {@link #PATIENCE}. */
  static Answer eventually(Supplier<Answer> call, Predicate<Answer> condition) {
    return eventually(call, condition, PATIENCE);
  }

  /** Repeats a call until its answer meets a condition; fails after this time. */
  static Answer eventually(Supplier<Answer> call, Predicate<Answer> condition, Duration patience) {
    long begunNanos = System.nanoTime();
    Answer answer = call.get();
    while (!condition.test(answer)) {
      if (System.nanoTime() - begunNanos > patience.toNanos()) {
        throw new AssertionError("no answer met the condition in time: last=" + answer);
      }
      LockSupport.parkNanos(POLL_NANOS);
      answer = call.get();
    }
    return answer;
  }

  /** Sends a request, and checks that its answer conforms to the description, and the request if it is accepted. */
  Answer call(String method, String path, @Nullable String body, Map<String, String> headers) {
    Answer answer = send(method, path, body, headers);
    description.check(method, path, answer.status, answer.headers.getOrDefault("content-type", ""), answer.body);
    if (body != null && answer.status < 300) {
      description.checkRequest(method, path, headers.getOrDefault("Content-Type", ""), body);
    }
    return answer;
  }

  /** Sends a request, and does not check its answer. */
  Answer send(String method, String path, @Nullable String body, Map<String, String> headers) {
    return sendBytes(method, path, body == null ? null : body.getBytes(StandardCharsets.UTF_8), headers);
  }

  /** Sends a request with a body of any bytes, and does not check its answer. */
  Answer sendBytes(String method, String path, byte @Nullable [] body, Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path))
        .timeout(Duration.ofSeconds(30))
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    if (apiKey != null) {
      request.header("Authorization", "Bearer " + apiKey);
    }
    try {
      HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
      Map<String, String> responseHeaders = new LinkedHashMap<>();
      answer.headers().map().forEach((name, values) -> responseHeaders.put(name.toLowerCase(Locale.ROOT),
          values.getFirst()));
      return new Answer(answer.statusCode(), responseHeaders, answer.body());
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  Rig withQueue(String queue) {
    put("/v1/queues/" + queue, "{\"delivery\": {\"type\": \"pull\", \"timeout\": \"30s\"}}");
    return this;
  }

  @Override
  public void close() {
    engineResult = null;
    server.close();
    client.close();
  }
}
