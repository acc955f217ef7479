package io.foliot.store.redis;

import io.foliot.api.Limits;
import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The options of a store.
 *
 * @param uri {@code redis://}, {@code rediss://} (TLS), or {@code redis-sentinel://...#master}. Several addresses of
 *     the first two forms, separated by commas, are members of a cluster. A single address may also name a member of a
 *     cluster
 * @param namespace the prefix of every key, which separates several stores on one server
 * @param slots the number of slots of a new store, a power of two from 1 to 65,536. An existing store keeps its number
 * @param timeout a call fails if it has no answer after this time; it is then unknown whether the call took effect
 * @param waitReplicas the number of replicas that must have a write before it is acknowledged; 0 for no wait
 * @param onSetAside receives each task that is set aside because its record cannot be read, on a thread of the store
 */
public record RedisOptions(String uri, String namespace, int slots, Duration timeout, int waitReplicas,
    Consumer<SetAside> onSetAside) {
  /** Namespace of a store unless another one is set. */
  public static final String DEFAULT_NAMESPACE = "foliot";
  /** Pattern of valid namespaces, which cannot be confused with the rest of a key. */
  private static final String NAMESPACE = "[A-Za-z0-9_-]{1,64}";

  private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);
  private static final Duration MAX_TIMEOUT = Duration.ofMillis(Limits.MAX_DELAY_MILLIS);

  public RedisOptions {
    if (!namespace.matches(NAMESPACE)) {
      throw new IllegalArgumentException("a namespace must have 1 to 64 of A-Z a-z 0-9 _ -: namespace=" + namespace);
    }
    if (slots < 1 || slots > 1 << 16 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("the number of slots must be a power of two up to 65536: slots=" + slots);
    }
    if (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException("a timeout must be at least 1 ms and at most 100 years: timeout=" + timeout);
    }
    if (waitReplicas < 0) {
      throw new IllegalArgumentException("the number of replicas must not be negative: waitReplicas=" + waitReplicas);
    }
  }

  /** Returns the options of a store at an address, with a default for each other setting. */
  public static RedisOptions at(String uri) {
    return builder(uri).build();
  }

  /** Returns a builder of options of a store at an address. */
  public static Builder builder(String uri) {
    return new Builder(uri);
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder(uri).namespace(namespace).slots(slots).timeout(timeout).waitReplicas(waitReplicas)
        .onSetAside(onSetAside);
  }

  /** Builds {@link RedisOptions}. Not thread-safe. */
  public static final class Builder {
    private final String uri;
    private String namespace = DEFAULT_NAMESPACE;
    private int slots = 64;
    private Duration timeout = Duration.ofSeconds(5);
    private int waitReplicas;
    private Consumer<SetAside> onSetAside = setAside -> {
      // The store logs each such task.
    };

    private Builder(String uri) {
      this.uri = uri;
    }

    /**
     * Sets the namespace that separates several stores on one server, 1 to 64 of {@code A-Z a-z 0-9 _ -}; by default
     * {@code foliot}.
     */
    public Builder namespace(String value) {
      namespace = value;
      return this;
    }

    /**
     * Sets the number of slots of a new store, a power of two from 1 to 65,536; by default 64. An existing store keeps
     * its number.
     */
    public Builder slots(int value) {
      slots = value;
      return this;
    }

    /**
     * Sets how long a call waits for its answer, from 1 ms to 100 years; by default 5 s. The call then fails, and it is
     * unknown whether the call took effect.
     */
    public Builder timeout(Duration value) {
      timeout = value;
      return this;
    }

    /** Sets the number of replicas that must have a write before it is acknowledged; by default 0, for no wait. */
    public Builder waitReplicas(int value) {
      waitReplicas = value;
      return this;
    }

    /**
     * Sets the listener for each task that is set aside because its record cannot be read. The listener is called on a
     * thread of the store. By default there is no listener; the store always logs the task.
     */
    public Builder onSetAside(Consumer<SetAside> value) {
      onSetAside = value;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if a value is out of its range
     */
    public RedisOptions build() {
      return new RedisOptions(uri, namespace, slots, timeout, waitReplicas, onSetAside);
    }
  }

  /** Returns a text without the address, which may contain a password. */
  @Override
  public String toString() {
    return "RedisOptions[namespace=" + namespace + ", slots=" + slots + ", timeout=" + timeout + ", waitReplicas="
        + waitReplicas + "]";
  }
}
