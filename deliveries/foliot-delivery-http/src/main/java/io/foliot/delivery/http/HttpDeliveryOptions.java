package io.foliot.delivery.http;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an {@link HttpDelivery}.
 *
 * @param allowedNetworks networks that are not public and that callbacks may reach all the same
 * @param allowLoopback whether callbacks may reach this machine by 127.0.0.0/8 and ::1
 * @param allowUnresolved whether a queue may be created before the name of its receiver is
 * @param connectTimeout how long a connection, and its TLS handshake, may take within an attempt
 * @param addressTtl how long the addresses of a host are used before it is looked up again
 * @param connectionsPerDestination open connections to one host and port; further attempts wait for one, within their
 *        timeout. The engine has up to twice its destination limit under way there
 * @param maxInFlight attempts under way at once; the engine claims no more than that, and others are refused at once
 * @param ioThreads threads that read and write
 * @param version of Foliot, for the user-agent
 * @param tls what trusts the receivers' certificates; null for what this Java trusts
 */
public record HttpDeliveryOptions(List<Cidr> allowedNetworks, boolean allowLoopback, boolean allowUnresolved,
    Duration connectTimeout, Duration addressTtl, int connectionsPerDestination, int maxInFlight, int ioThreads,
    String version, @Nullable SSLContext tls) {
  /** Public addresses only. */
  public static final HttpDeliveryOptions DEFAULT = new HttpDeliveryOptions(List.of(), false, false,
      Duration.ofSeconds(5), Duration.ofSeconds(5), 2_000, 16_384, defaultIoThreads(), "0.1", null);

  public HttpDeliveryOptions {
    allowedNetworks = List.copyOf(allowedNetworks);
    requireNonNull(version, "version");
    ensureTime("connectTimeout", connectTimeout);
    ensureTime("addressTtl", addressTtl);
    ensurePositive("connectionsPerDestination", connectionsPerDestination);
    ensurePositive("maxInFlight", maxInFlight);
    ensurePositive("ioThreads", ioThreads);
  }

  /** A thread writes and reads some 50,000 callbacks a second; the engine needs the other processors. */
  private static int defaultIoThreads() {
    return Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors() / 4));
  }

  private static void ensurePositive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " is at least 1: value=" + value);
    }
  }

  private static void ensureTime(String name, Duration value) {
    if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException(name + " is from 1 ms to 1 h: value=" + value);
    }
  }

  /** The same with other networks allowed. */
  public HttpDeliveryOptions withAllowedNetworks(List<Cidr> networks) {
    return new HttpDeliveryOptions(networks, allowLoopback, allowUnresolved, connectTimeout, addressTtl,
        connectionsPerDestination, maxInFlight, ioThreads, version, tls);
  }

  /** The same with loopback allowed or not. */
  public HttpDeliveryOptions withAllowLoopback(boolean allow) {
    return new HttpDeliveryOptions(allowedNetworks, allow, allowUnresolved, connectTimeout, addressTtl,
        connectionsPerDestination, maxInFlight, ioThreads, version, tls);
  }

  /** The same with names that do not resolve yet allowed or not. */
  public HttpDeliveryOptions withAllowUnresolved(boolean allow) {
    return new HttpDeliveryOptions(allowedNetworks, allowLoopback, allow, connectTimeout, addressTtl,
        connectionsPerDestination, maxInFlight, ioThreads, version, tls);
  }

  /** The same with other times. */
  public HttpDeliveryOptions withTimes(Duration newConnectTimeout, Duration newAddressTtl) {
    return new HttpDeliveryOptions(allowedNetworks, allowLoopback, allowUnresolved, newConnectTimeout, newAddressTtl,
        connectionsPerDestination, maxInFlight, ioThreads, version, tls);
  }

  /** The same with other bounds. */
  public HttpDeliveryOptions withBounds(int newConnectionsPerDestination, int newMaxInFlight, int newIoThreads) {
    return new HttpDeliveryOptions(allowedNetworks, allowLoopback, allowUnresolved, connectTimeout, addressTtl,
        newConnectionsPerDestination, newMaxInFlight, newIoThreads, version, tls);
  }

  /** The same with another number of connections to one host and port. */
  public HttpDeliveryOptions withConnections(int newConnectionsPerDestination) {
    return withBounds(newConnectionsPerDestination, maxInFlight, ioThreads);
  }

  /** The same with another version. */
  public HttpDeliveryOptions withVersion(String newVersion) {
    return new HttpDeliveryOptions(allowedNetworks, allowLoopback, allowUnresolved, connectTimeout, addressTtl,
        connectionsPerDestination, maxInFlight, ioThreads, newVersion, tls);
  }

  /** The same with other trust. */
  public HttpDeliveryOptions withTls(@Nullable SSLContext context) {
    return new HttpDeliveryOptions(allowedNetworks, allowLoopback, allowUnresolved, connectTimeout, addressTtl,
        connectionsPerDestination, maxInFlight, ioThreads, version, context);
  }
}
