package io.foliot.delivery.http;

import static java.util.Objects.requireNonNull;

import io.foliot.core.TimeSource;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hc.client5.http.DnsResolver;
import org.jspecify.annotations.Nullable;

/**
 * The resolver of hosts, which checks their addresses. Every connection gets its address here, so only checked
 * addresses are connected to. No second look-up is made between the check and the connection, because that look-up
 * could return other addresses.
 *
 * <p>The result of a look-up is a finding, which is used for a short time. In the second half of that time, an attempt
 * that calls a permitted host starts the next look-up in the background. Attempts that call a busy host therefore
 * seldom wait. At most one look-up per host runs at a time.
 *
 * <p>While the look-up of a host hangs or fails, the latest permitted addresses of the host are used until they are a
 * minute old. Hosts in use are looked up on threads of their own, so that hanging look-ups of other hosts do not delay
 * them. Otherwise a caller could block all look-ups with many names that hang.
 *
 * <p>An attempt that calls a host by name reads the map of hosts when it begins, and again if it opens a connection.
 * Such a connection uses only addresses in the map. A cache library was rejected: when it is full, it may drop the
 * newest host at once, between the two reads. It also cannot keep the addresses of a finding that has expired.
 */
final class HostLookup implements DnsResolver {
  /**
   * Maximum number of hosts that are kept, apart from hosts with a running look-up. At this number, hosts with old
   * findings are dropped, and if that is not enough, all hosts without a running look-up. The names come from the
   * settings of queues, so more names indicate a leak.
   */
  private static final int MAX_HOSTS = 10_000;
  /**
   * Longest time for which a denied or unresolved finding is kept if its look-up was fast. A name that was just created
   * should be found soon, but a missing name should not be looked up at every attempt.
   */
  private static final long REFUSED_NANOS = Duration.ofSeconds(1).toNanos();

  /** Time for which permitted addresses are used while look-ups fail. The life of a connection has the same limit. */
  private static final long STALE_NANOS = Duration.ofMinutes(1).toNanos();
  /** Time after which a running look-up is treated as hanging. */
  static final Duration PATIENCE = Duration.ofSeconds(1);
  /**
   * Longest time for which any denied or unresolved finding is kept. If its look-up was slow, it is kept for as long as
   * the look-up took, up to this time.
   */
  private static final long MAX_REFUSED_NANOS = Duration.ofSeconds(30).toNanos();

  private final Resolver resolver;
  private final Executor refreshes;
  private final Executor searches;
  private final TimeSource clock;
  private final AddressRules rules;
  private final long permittedNanos;
  private final ConcurrentHashMap<String, Host> hosts = new ConcurrentHashMap<>();

  /**
   * Creates a look-up.
   *
   * @param refreshes runs the resolver for hosts that were permitted within the last minute
   * @param searches runs the resolver for other hosts
   * @param keep how long permitted addresses are used before the next look-up
   */
  HostLookup(Resolver resolver, Executor refreshes, Executor searches, TimeSource clock, AddressRules rules,
      Duration keep) {
    this.resolver = resolver;
    this.refreshes = refreshes;
    this.searches = searches;
    this.clock = clock;
    this.rules = rules;
    permittedNanos = keep.toNanos();
  }

  /** The result of a look-up. */
  sealed interface Finding {}

  /** The finding that callbacks may reach all addresses of the host. */
  record Permitted(List<InetAddress> addresses) implements Finding {}

  /** The finding that the host has no address, or that its look-up failed. */
  record Unresolved(String detail) implements Finding {}

  /** The finding that the host has an address that callbacks may not reach. */
  record Denied(String detail) implements Finding {}

  private record Dated(Finding finding, long atNanos, long keepNanos) {
    boolean isFresh(long nowNanos) {
      return nowNanos - atNanos < keepNanos;
    }
  }

  private static final class Host {
    volatile @Nullable Dated last;
    /** The latest finding that permitted the host; null if a later finding denied the host. */
    volatile @Nullable Dated permitted;
    /** Monotonic time at which the running look-up was passed to its executor. */
    volatile long launchedNanos;
    final AtomicReference<@Nullable CompletableFuture<Finding>> running = new AtomicReference<>();
  }

  /** Returns a finding that can be used now for a host, or null if {@link #find} must be called. Never blocks. */
  @Nullable
  Finding known(String host) {
    Host entry = hosts.get(host);
    Dated last = entry == null ? null : entry.last;
    if (entry == null || last == null) {
      return null;
    }
    long nowNanos = clock.monotonicNanos();
    if (last.isFresh(nowNanos)) {
      if (last.finding instanceof Permitted && nowNanos - last.atNanos >= last.keepNanos / 2) {
        refresh(host, entry);
      }
      return orPermitted(entry, last.finding, nowNanos);
    }
    boolean hangs = entry.running.get() != null && nowNanos - entry.launchedNanos >= PATIENCE.toNanos();
    return hangs ? permittedLately(entry, nowNanos) : null;
  }

  private static @Nullable Finding permittedLately(Host entry, long nowNanos) {
    Dated permitted = entry.permitted;
    return permitted != null && nowNanos - permitted.atNanos < STALE_NANOS ? permitted.finding : null;
  }

  /**
   * Returns the finding. If it is unresolved, returns the permitted finding of the last minute instead, if there is
   * one.
   */
  private static Finding orPermitted(Host entry, Finding finding, long nowNanos) {
    Finding permitted = finding instanceof Unresolved ? permittedLately(entry, nowNanos) : null;
    return permitted == null ? finding : permitted;
  }

  private void refresh(String host, Host entry) {
    if (entry.running.get() == null) {
      CompletableFuture<Finding> created = new CompletableFuture<>();
      if (entry.running.compareAndSet(null, created)) {
        launch(host, entry, created);
      }
    }
  }

  private long keepNanos(Finding finding, long tookNanos) {
    return finding instanceof Permitted
        ? permittedNanos
        : Math.max(Math.min(REFUSED_NANOS, permittedNanos), Math.min(MAX_REFUSED_NANOS, tookNanos));
  }

  /**
   * Returns the finding of the running look-up of a host, or of a new one. If the look-up fails or hangs and the host
   * was permitted within the last minute, returns the permitted finding. The future never completes exceptionally.
   */
  CompletableFuture<Finding> find(String host) {
    if (hosts.size() >= MAX_HOSTS) {
      forgetOld();
    }
    Host entry = hosts.computeIfAbsent(host, name -> new Host());
    CompletableFuture<Finding> found = start(host, entry);
    Finding permitted = permittedLately(entry, clock.monotonicNanos());
    return permitted == null
        ? found
        : found.thenApply(finding -> orPermitted(entry, finding, clock.monotonicNanos())).completeOnTimeout(permitted,
            PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private CompletableFuture<Finding> start(String host, Host entry) {
    CompletableFuture<Finding> created = new CompletableFuture<>();
    CompletableFuture<Finding> running = entry.running.compareAndExchange(null, created);
    if (running != null) {
      return running;
    }
    launch(host, entry, created);
    return created;
  }

  private void launch(String host, Host entry, CompletableFuture<Finding> future) {
    long nowNanos = clock.monotonicNanos();
    entry.launchedNanos = nowNanos;
    try {
      (permittedLately(entry, nowNanos) == null ? searches : refreshes).execute(() -> run(host, entry, future));
    } catch (RejectedExecutionException e) {
      entry.running.set(null);
      future.complete(new Unresolved("too many name look-ups wait; the name server may be down: host=" + host));
    }
  }

  private void run(String host, Host entry, CompletableFuture<Finding> future) {
    Finding finding;
    long begunNanos = clock.monotonicNanos();
    try {
      finding = check(host, resolver.resolve(host));
    } catch (UnknownHostException e) {
      finding = new Unresolved(
          "the host does not resolve; create its DNS entry, or correct the url of the queue: host=" + host);
    } catch (Throwable e) {
      finding = new Unresolved("the name look-up failed with " + e.getClass().getSimpleName() + ": host=" + host);
    }
    long nowNanos = clock.monotonicNanos();
    Dated dated = new Dated(finding, nowNanos, keepNanos(finding, nowNanos - begunNanos));
    if (!(finding instanceof Unresolved)) {
      entry.permitted = finding instanceof Permitted ? dated : null;
    }
    entry.last = dated;
    entry.running.set(null);
    future.complete(finding);
  }

  private Finding check(String host, List<InetAddress> addresses) {
    if (addresses.isEmpty()) {
      return new Unresolved("the host has no address: host=" + host);
    }
    for (InetAddress address : addresses) {
      String denial = rules.denial(address);
      if (denial != null) {
        return new Denied(denied(host, address.getHostAddress(), denial));
      }
    }
    return new Permitted(List.copyOf(addresses));
  }

  private static String denied(String host, String address, String denial) {
    String remedy = denial.equals(AddressRules.METADATA_DENIAL) || denial.equals(AddressRules.OPERATOR_DENIAL)
        ? "deliver to another host"
        : "an operator can permit it with --allow-network";
    return "the host has an address that callbacks may not reach (" + denial + "); " + remedy + ": host=" + host
        + ", address=" + address;
  }

  /** Returns the finding for a host that is given as an IP address, without a look-up. */
  Finding ofLiteral(String host, byte[] address) {
    // The bytes are checked before the JDK converts an IPv4-mapped address to an IPv4 address.
    String denial = rules.denial(address);
    if (denial != null) {
      return new Denied(denied(host, host, denial));
    }
    try {
      return check(host, List.of(InetAddress.getByAddress(host, address)));
    } catch (UnknownHostException e) {
      throw new AssertionError("an address has 4 or 16 bytes", e);
    }
  }

  private void forgetOld() {
    long now = clock.monotonicNanos();
    hosts.values().removeIf(entry -> {
      Dated last = entry.last;
      return last != null && entry.running.get() == null && !last.isFresh(now) && permittedLately(entry, now) == null;
    });
    if (hosts.size() >= MAX_HOSTS) {
      hosts.values().removeIf(entry -> entry.running.get() == null);
    }
  }

  /**
   * Returns the addresses for a new connection: the latest permitted addresses, unless a later finding denied the host.
   * Their age does not matter, because the attempt checked the host when it began. Never looks up a name.
   */
  @Override
  public InetAddress[] resolve(String host) throws UnknownHostException {
    byte[] literal = IpLiteral.parse(host);
    Finding finding = null;
    if (literal != null) {
      finding = ofLiteral(host, literal);
    } else {
      Host entry = hosts.get(host);
      Dated permitted = entry == null ? null : entry.permitted;
      finding = permitted == null ? null : permitted.finding;
    }
    if (finding instanceof Permitted permitted) {
      return permitted.addresses.toArray(InetAddress[]::new);
    }
    throw new UnknownHostException("no checked address: " + host);
  }

  @Override
  public String resolveCanonicalHostname(String host) {
    return requireNonNull(host);
  }
}
