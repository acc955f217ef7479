package io.foliot.server.metrics;

import io.foliot.server.api.Route;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The durations of requests, by route and status. Safe for use by any thread. */
public final class HttpTimings {
  /** Upper bounds of the buckets. */
  private static final Duration[] BOUNDS = {Duration.ofMillis(1), Duration.ofMillis(5), Duration.ofMillis(20),
      Duration.ofMillis(100), Duration.ofMillis(500), Duration.ofSeconds(2), Duration.ofSeconds(10)};

  private final MeterRegistry registry;
  private final Map<Key, Timer> timers = new ConcurrentHashMap<>();

  private record Key(@Nullable Route route, int status) {}

  /** Creates the timings in this registry. */
  public HttpTimings(MeterRegistry registry) {
    this.registry = registry;
  }

  /**
   * Records that a request was answered.
   *
   * @param route the route of the request, or null if the request matched none
   */
  public void record(@Nullable Route route, int status, long nanos) {
    timers.computeIfAbsent(new Key(route, status), this::timer).record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(Key key) {
    return Timer.builder("foliot.http.requests").description("Requests answered")
        .tag("method", key.route == null ? "none" : key.route.method())
        .tag("path", key.route == null ? "none" : key.route.path())
        .tag("status", Integer.toString(key.status)).serviceLevelObjectives(BOUNDS).register(registry);
  }
}
