package io.foliot.store.redis;

import io.foliot.core.Limits;
import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * How a store shall be.
 *
 * @param uri {@code redis://}, {@code rediss://} (TLS), {@code redis-sentinel://...#master}; several of the first two,
 *     separated by commas, are members of a cluster. A single server that says it belongs to a cluster is taken for one
 * @param namespace keeps several stores on one server apart; part of every key
 * @param slots how many slots a new store gets; a power of two from 1 to 65,536. An old one keeps what it has
 * @param timeout after which a call that was not answered fails; whether it took effect is unknown
 * @param waitReplicas how many replicas must have a write before it is answered; 0 not to wait
 * @param onSetAside told of each task that is set aside because its record cannot be read, on a thread of the store's
 */
public record RedisOptions(String uri, String namespace, int slots, Duration timeout, int waitReplicas,
    Consumer<SetAside> onSetAside) {
  /** Namespace of a store unless it is set. */
  public static final String DEFAULT_NAMESPACE = "foliot";
  /** What is in every key, and not to be confused with what stands beside it. */
  private static final String NAMESPACE = "[A-Za-z0-9_-]{1,64}";

  public RedisOptions {
    if (!namespace.matches(NAMESPACE)) {
      throw new IllegalArgumentException("a namespace has 1 to 64 of A-Z a-z 0-9 _ -: namespace=" + namespace);
    }
    if (slots < 1 || slots > 1 << 16 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("the number of slots is a power of two up to 65536: slots=" + slots);
    }
    if (timeout.isNegative() || timeout.isZero() || timeout.toMillis() > Limits.MAX_DELAY_MILLIS) {
      throw new IllegalArgumentException("a timeout is longer than nothing: timeout=" + timeout);
    }
    if (waitReplicas < 0) {
      throw new IllegalArgumentException("the number of replicas is not negative: waitReplicas=" + waitReplicas);
    }
  }

  /** A store in the namespace {@code foliot} with 64 slots and a timeout of 5 s, which does not wait for replicas. */
  public static RedisOptions at(String uri) {
    return new RedisOptions(uri, DEFAULT_NAMESPACE, 64, Duration.ofSeconds(5), 0, setAside -> {
      // The store logs it.
    });
  }

  /** The same in another namespace. */
  public RedisOptions withNamespace(String newNamespace) {
    return new RedisOptions(uri, newNamespace, slots, timeout, waitReplicas, onSetAside);
  }

  /** The same with another number of slots. */
  public RedisOptions withSlots(int newSlots) {
    return new RedisOptions(uri, namespace, newSlots, timeout, waitReplicas, onSetAside);
  }

  /** The same with another timeout. */
  public RedisOptions withTimeout(Duration newTimeout) {
    return new RedisOptions(uri, namespace, slots, newTimeout, waitReplicas, onSetAside);
  }

  /** The same with another number of replicas to wait for. */
  public RedisOptions withWaitReplicas(int newWaitReplicas) {
    return new RedisOptions(uri, namespace, slots, timeout, newWaitReplicas, onSetAside);
  }

  /** The same with another listener for tasks that are set aside. */
  public RedisOptions withOnSetAside(Consumer<SetAside> newOnSetAside) {
    return new RedisOptions(uri, namespace, slots, timeout, waitReplicas, newOnSetAside);
  }

  /** Without the address, which may hold a password. */
  @Override
  public String toString() {
    return "RedisOptions[namespace=" + namespace + ", slots=" + slots + ", timeout=" + timeout + ", waitReplicas="
        + waitReplicas + "]";
  }
}
