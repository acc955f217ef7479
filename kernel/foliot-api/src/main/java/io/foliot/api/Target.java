package io.foliot.api;

import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The way in which a queue's tasks are delivered.
 *
 * @param type the kind of delivery: {@code http}, {@code pull}, {@code local}, or the name of an application's delivery
 * @param settings the settings of the delivery, by name; for {@code http}, {@code url} and {@code secret}
 * @param timeout how long one attempt may take, from 1 ms to 24 h
 */
public record Target(String type, Map<String, String> settings, Duration timeout) {
  /** The type of queues whose tasks wait until a worker pulls them. */
  public static final String PULL = "pull";
  /** The type of queues whose tasks run in this process. */
  public static final String LOCAL = "local";
  /** Timeout of a queue whose definition sets none. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);
  /** Longest timeout, which is also the longest lease. */
  private static final Duration MAX_TIMEOUT = Duration.ofHours(24);

  public Target {
    settings = Collections.unmodifiableMap(new TreeMap<>(settings));
    InvalidSettingException.ensure(timeout.compareTo(SHORTEST_TIMEOUT) >= 0 && timeout.compareTo(MAX_TIMEOUT) <= 0,
        "delivery.timeout", "a duration from 1 ms to 24 h",
        timeout.isNegative() ? timeout : DurationText.format(timeout));
  }

  /** Returns this target with another value of a setting; null removes it. */
  public Target with(String setting, @Nullable String value) {
    Map<String, String> changed = new TreeMap<>(settings);
    if (value == null) {
      changed.remove(setting);
    } else {
      changed.put(setting, value);
    }
    return new Target(type, changed, timeout);
  }

  /** Returns this target with another timeout. */
  public Target with(Duration newTimeout) {
    return new Target(type, settings, newTimeout);
  }

  /**
   * Returns the type, the timeout, and the names of the settings without their values, which may contain a secret.
   */
  @Override
  public String toString() {
    return "Target[type=" + type + ", settings=" + settings.keySet() + ", timeout=" + timeout + "]";
  }

  /** Returns the target of a callback over HTTP to a URL, without a signature. */
  public static Target http(String url) {
    return new Target("http", Map.of("url", url), DEFAULT_TIMEOUT);
  }

  /** Returns the target of a callback over HTTP to a URL, without a signature. The setting {@code secret} adds one. */
  public static Target http(URI url) {
    return http(url.toString());
  }

  /** Returns the target of workers that pull the tasks. */
  public static Target pull() {
    return new Target(PULL, Map.of(), DEFAULT_TIMEOUT);
  }

  /** Returns the target of a handler in this process. */
  public static Target local() {
    return new Target(LOCAL, Map.of(), DEFAULT_TIMEOUT);
  }
}
