package io.foliot.delivery.http;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an {@link HttpDelivery}.
 *
 * @param allowedNetworks networks that callbacks may reach although they are not public
 * @param deniedNetworks networks that callbacks may not reach although they are public or allowed
 * @param ports the ports that callbacks may reach
 * @param allowLoopback whether callbacks may reach this machine by 127.0.0.0/8 and ::1
 * @param allowUnresolved whether a queue may be created before the name of its receiver resolves
 * @param connectTimeout how long a connect may take, and how long the TLS handshake after it may take; the timeout of
 *        the attempt limits both
 * @param addressTtl how long the addresses of a host are used before the host is looked up again
 * @param connectionsPerDestination the maximum number of connections to one host and port; further attempts wait for a
 *     connection, within their timeout. The engine has its own limit of attempts for each destination, and may briefly
 *     run up to twice that number of attempts
 * @param maxInFlight the maximum number of attempts under way; once it is reached, the engine claims no more tasks for
 *        this delivery, and attempts of other callers are refused
 * @param ioThreads the number of threads that read and write
 * @param version the version of Foliot, for the header User-Agent
 * @param tls the context that decides which certificates of receivers are trusted; null for the default of the JVM
 */
public record HttpDeliveryOptions(List<Cidr> allowedNetworks, List<Cidr> deniedNetworks, List<PortRange> ports,
    boolean allowLoopback, boolean allowUnresolved, Duration connectTimeout, Duration addressTtl,
    int connectionsPerDestination, int maxInFlight, int ioThreads,
    String version, @Nullable SSLContext tls) {
  /** The default of {@link #ports}. */
  public static final List<PortRange> DEFAULT_PORTS = List.of(new PortRange(1, 65_535));
  /** The defaults of the {@link Builder}: public addresses only. */
  public static final HttpDeliveryOptions DEFAULT = builder().build();

  public HttpDeliveryOptions {
    allowedNetworks = List.copyOf(allowedNetworks);
    deniedNetworks = List.copyOf(deniedNetworks);
    ports = List.copyOf(ports);
    requireNonNull(version, "version");
    ensureTime("connectTimeout", connectTimeout);
    ensureTime("addressTtl", addressTtl);
    ensurePositive("connectionsPerDestination", connectionsPerDestination);
    ensurePositive("maxInFlight", maxInFlight);
    ensurePositive("ioThreads", ioThreads);
  }

  /**
   * Returns the default number of I/O threads. One thread handles some 50,000 callbacks a second, and the engine needs
   * the other processors.
   */
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

  /** Returns a builder of options; each has a default. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder().allowedNetworks(allowedNetworks).deniedNetworks(deniedNetworks).ports(ports)
        .allowLoopback(allowLoopback).allowUnresolved(allowUnresolved)
        .connectTimeout(connectTimeout).addressTtl(addressTtl).connectionsPerDestination(connectionsPerDestination)
        .maxInFlight(maxInFlight).ioThreads(ioThreads).version(version).tls(tls);
  }

  /** Builds {@link HttpDeliveryOptions}. Not thread-safe. */
  public static final class Builder {
    private List<Cidr> allowedNetworks = List.of();
    private List<Cidr> deniedNetworks = List.of();
    private List<PortRange> ports = DEFAULT_PORTS;
    private boolean allowLoopback;
    private boolean allowUnresolved;
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration addressTtl = Duration.ofSeconds(5);
    private int connectionsPerDestination = 2_000;
    private int maxInFlight = 16_384;
    private int ioThreads = defaultIoThreads();
    private String version = "0.1";
    private @Nullable SSLContext tls;

    private Builder() {}

    /** Sets the networks that callbacks may reach although they are not public; none by default. */
    public Builder allowedNetworks(List<Cidr> value) {
      allowedNetworks = value;
      return this;
    }

    /** Sets the networks that callbacks may not reach although they are public or allowed; none by default. */
    public Builder deniedNetworks(List<Cidr> value) {
      deniedNetworks = value;
      return this;
    }

    /** Sets the ports that callbacks may reach; by default all. */
    public Builder ports(List<PortRange> value) {
      ports = value;
      return this;
    }

    /** Sets whether callbacks may reach this machine by 127.0.0.0/8 and ::1; false by default. */
    public Builder allowLoopback(boolean value) {
      allowLoopback = value;
      return this;
    }

    /** Sets whether a queue may be created before the name of its receiver resolves; false by default. */
    public Builder allowUnresolved(boolean value) {
      allowUnresolved = value;
      return this;
    }

    /**
     * Sets how long a connect may take, and how long the TLS handshake after it may take, from 1 ms to 1 h; by default
     * 5 s. The timeout of the attempt limits both.
     */
    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    /**
     * Sets how long the addresses of a host are used before the host is looked up again, from 1 ms to 1 h; by default
     * 5 s.
     */
    public Builder addressTtl(Duration value) {
      addressTtl = value;
      return this;
    }

    /**
     * Sets the maximum number of connections to one host and port, at least 1; by default 2,000. Further attempts wait
     * for a connection, within their timeout. The engine has its own limit of attempts for each destination, and may
     * briefly run up to twice that number of attempts.
     */
    public Builder connectionsPerDestination(int value) {
      connectionsPerDestination = value;
      return this;
    }

    /**
     * Sets the maximum number of attempts under way, at least 1; by default 16,384. Once it is reached, the engine
     * claims no more tasks for this delivery, and attempts of other callers are refused.
     */
    public Builder maxInFlight(int value) {
      maxInFlight = value;
      return this;
    }

    /** Sets how many threads read and write, at least 1; by default a quarter of the processors, from 1 to 4. */
    public Builder ioThreads(int value) {
      ioThreads = value;
      return this;
    }

    /** Sets the version of Foliot in the header User-Agent. */
    public Builder version(String value) {
      version = value;
      return this;
    }

    /**
     * Sets the context that decides which certificates of receivers are trusted. Null, the initial value, selects the
     * default of the JVM.
     */
    public Builder tls(@Nullable SSLContext value) {
      tls = value;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if a value is out of its range
     */
    public HttpDeliveryOptions build() {
      return new HttpDeliveryOptions(allowedNetworks, deniedNetworks, ports, allowLoopback, allowUnresolved,
          connectTimeout, addressTtl, connectionsPerDestination, maxInFlight, ioThreads, version, tls);
    }
  }
}
