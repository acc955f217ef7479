package io.foliot.delivery.http;

import static java.util.Objects.requireNonNull;

import io.foliot.core.Clock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hc.client5.http.DnsResolver;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of hosts, found and checked. All that connects gets its addresses here, so that what was checked is what is
 * connected to: a second look-up, which could answer differently, never happens in between.
 *
 * <p>A finding is used for a short while. In the second half of it the next look-up runs beside, so that a busy host never
 * makes an attempt wait. One look-up runs per host at a time.
 */
final class HostLookup implements DnsResolver {
  /** Names come from queues; this many are a leak, and the oldest findings are let go. */
  private static final int MAX_HOSTS = 10_000;
  /** A name that was just created should be found soon; a missing one should not be asked for at every attempt. */
  private static final long REFUSED_NANOS = Duration.ofSeconds(1).toNanos();

  private final Resolver resolver;
  private final Executor executor;
  private final Clock clock;
  private final AddressRules rules;
  private final long permittedNanos;
  private final ConcurrentHashMap<String, Host> hosts = new ConcurrentHashMap<>();

  HostLookup(Resolver resolver, Executor executor, Clock clock, AddressRules rules, Duration keep) {
    this.resolver = resolver;
    this.executor = executor;
    this.clock = clock;
    this.rules = rules;
    permittedNanos = keep.toNanos();
  }

  /** What a look-up came to. */
  sealed interface Finding {}

  /** All its addresses may be connected to. */
  record Permitted(List<InetAddress> addresses) implements Finding {}

  /** It has no address, as far as can be told. */
  record Unresolved(String detail) implements Finding {}

  /** One of its addresses, at least, must not be connected to. */
  record Denied(String detail) implements Finding {}

  private record Dated(Finding finding, long atNanos) {}

  private static final class Host {
    volatile @Nullable Dated last;
    final AtomicReference<@Nullable CompletableFuture<Finding>> running = new AtomicReference<>();
  }

  /** The finding for a host if it is fresh; never blocks. Null means that {@link #find} must be asked. */
  @Nullable
  Finding known(String host) {
    Host entry = hosts.get(host);
    Dated last = entry == null ? null : entry.last;
    if (entry == null || last == null) {
      return null;
    }
    long age = clock.monotonicNanos() - last.atNanos;
    long keep = keepNanos(last.finding);
    if (age >= keep) {
      return null;
    }
    if (age >= keep / 2 && last.finding instanceof Permitted) {
      refresh(host, entry);
    }
    return last.finding;
  }

  private void refresh(String host, Host entry) {
    if (entry.running.get() == null) {
      CompletableFuture<Finding> mine = new CompletableFuture<>();
      if (entry.running.compareAndSet(null, mine)) {
        launch(host, entry, mine);
      }
    }
  }

  private long keepNanos(Finding finding) {
    return finding instanceof Permitted ? permittedNanos : Math.min(REFUSED_NANOS, permittedNanos);
  }

  /** The finding for a host, from the look-up that runs or a new one. Never fails. */
  CompletableFuture<Finding> find(String host) {
    if (hosts.size() >= MAX_HOSTS) {
      forgetOld();
    }
    return start(host, hosts.computeIfAbsent(host, name -> new Host()));
  }

  private CompletableFuture<Finding> start(String host, Host entry) {
    CompletableFuture<Finding> mine = new CompletableFuture<>();
    CompletableFuture<Finding> other = entry.running.compareAndExchange(null, mine);
    if (other != null) {
      return other;
    }
    launch(host, entry, mine);
    return mine;
  }

  private void launch(String host, Host entry, CompletableFuture<Finding> mine) {
    try {
      executor.execute(() -> run(host, entry, mine));
    } catch (RejectedExecutionException e) {
      entry.running.set(null);
      mine.complete(new Unresolved("too many name look-ups wait; does the name server answer? host=" + host));
    }
  }

  private void run(String host, Host entry, CompletableFuture<Finding> future) {
    Finding finding;
    try {
      finding = check(host, resolver.resolve(host));
    } catch (UnknownHostException e) {
      finding = new Unresolved(
          "the host does not resolve; create its DNS entry, or correct the url of the queue: host=" + host);
    } catch (Throwable e) {
      finding = new Unresolved("the name look-up failed with " + e.getClass().getSimpleName() + ": host=" + host);
    }
    entry.last = new Dated(finding, clock.monotonicNanos());
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
    String remedy = denial.equals(AddressRules.METADATA_DENIAL)
        ? "deliver to another host"
        : "an operator can permit it with --allow-network";
    return "the host has an address that callbacks may not reach (" + denial + "); " + remedy + ": host=" + host
        + ", address=" + address;
  }

  /** The finding for a host that is an address itself; no look-up is needed. */
  Finding ofLiteral(String host, byte[] address) {
    // Before the JDK sees it, which makes an IPv4 address of a mapped one.
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
      return last != null && entry.running.get() == null && now - last.atNanos >= keepNanos(last.finding);
    });
    if (hosts.size() >= MAX_HOSTS) {
      hosts.values().removeIf(entry -> entry.running.get() == null);
    }
  }

  /**
   * The addresses for a new connection: those of the last finding, however old, because the attempt that connects has
   * looked at it. Never looks anything up.
   */
  @Override
  public InetAddress[] resolve(String host) throws UnknownHostException {
    byte[] literal = IpLiteral.parse(host);
    Finding finding = null;
    if (literal != null) {
      finding = ofLiteral(host, literal);
    } else {
      Host entry = hosts.get(host);
      Dated last = entry == null ? null : entry.last;
      finding = last == null ? null : last.finding;
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
