package io.foliot.delivery.http;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.foliot.api.Target;
import io.foliot.core.SystemClock;
import io.foliot.core.TimeSource;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.delivery.http.HostLookup.Denied;
import io.foliot.delivery.http.HostLookup.Finding;
import io.foliot.delivery.http.HostLookup.Unresolved;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Signed callbacks over HTTP/1.1. Each attempt is one POST to a checked address.
 *
 * <p>An attempt has these steps. It gets the settings of its target, which are parsed once and kept. It is refused if
 * too many attempts are in flight; otherwise it is added to them. It starts a timer for the whole attempt. It gets the
 * checked addresses of its host, which are nearly always known, and calls the client. It ends at the first of these
 * events: an answer, a failure, the end of the timer, or the close of this delivery.
 *
 * <p>A request is written at most once. It is sent again, on another connection, only if the first connection was
 * closed before any byte of the request was written.
 */
public final class HttpDelivery implements Delivery {
  /** Names of the settings that a target of this delivery may have. */
  public static final List<String> SETTINGS = HttpTarget.KNOWN;

  private static final System.Logger LOG = System.getLogger(HttpDelivery.class.getName());

  /**
   * Longest wait of {@link #check} for a name server. If the server answers later, only the attempts check the
   * addresses.
   */
  private static final Duration CHECK_TIMEOUT = Duration.ofSeconds(2);
  /** Maximum number of concurrent look-ups of hosts in use. A host has one look-up at a time. */
  private static final int REFRESH_THREADS = 32;
  /** Maximum number of concurrent look-ups of all other hosts. */
  private static final int SEARCH_THREADS = 128;
  /**
   * Maximum number of look-ups that wait for a thread. It applies to hosts in use and to other hosts separately.
   * Further look-ups fail, because the name server is probably down.
   */
  private static final int LOOKUPS_WAITING = 4_096;
  /** Maximum number of targets whose parsed settings are kept. A queue has one target. */
  private static final int MAX_TARGETS = 10_000;

  private final HttpDeliveryOptions options;
  private final TimeSource clock;
  private final HostLookup lookup;
  private final CallbackClient client;
  private final List<ExecutorService> ownLookups;

  // any thread
  private final Cache<Target, HttpTarget> targets = Caffeine.newBuilder().maximumSize(MAX_TARGETS)
      .executor(Runnable::run).build();
  private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
  private final AtomicInteger inFlight = new AtomicInteger();
  private volatile boolean closed;

  /** Creates a delivery with the clock and the resolver of the machine. */
  public HttpDelivery(HttpDeliveryOptions options) {
    this(options, new SystemClock(), Resolver.system(), null);
  }

  /**
   * Creates a delivery.
   *
   * @param options the settings
   * @param clock gives the timestamps of the callbacks and the age of look-ups
   * @param resolver finds the addresses of hosts
   * @param lookups runs the resolver, which may block; null for threads of this delivery
   */
  public HttpDelivery(HttpDeliveryOptions options, TimeSource clock, Resolver resolver, @Nullable Executor lookups) {
    this.options = options;
    this.clock = clock;
    ownLookups = lookups != null
        ? List.of()
        : List.of(lookupThreads("foliot-http-refresh-", REFRESH_THREADS),
            lookupThreads("foliot-http-lookup-", SEARCH_THREADS));
    Executor refreshes = lookups == null ? ownLookups.getFirst() : lookups;
    Executor searches = lookups == null ? ownLookups.getLast() : lookups;
    lookup = new HostLookup(resolver, refreshes, searches, clock,
        new AddressRules(options.allowedNetworks(), options.deniedNetworks(), options.allowLoopback()),
        options.addressTtl());
    client = new CallbackClient(options, lookup);
  }

  // Platform threads, because native code resolves names and would block the carrier of a virtual thread.
  private static ExecutorService lookupThreads(String name, int count) {
    ThreadPoolExecutor threads = new ThreadPoolExecutor(count, count, 10, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(LOOKUPS_WAITING), Thread.ofPlatform().daemon().name(name, 0).factory());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  @Override
  public String type() {
    return HttpTarget.TYPE;
  }

  /**
   * Checks the settings and the addresses of the host. If the name server has not answered after two seconds, the
   * target is accepted. Each attempt checks the addresses again.
   *
   * @return a stage that fails with {@link IllegalArgumentException} if an address of the host is denied, or if the
   *     host does not resolve and {@link HttpDeliveryOptions#allowUnresolved} is false
   * @throws IllegalArgumentException if the settings are malformed
   */
  @Override
  public CompletionStage<Void> check(Target target) {
    CallbackUrl url = parse(target).url();
    byte[] literal = url.literal();
    // The time limit applies to a copy, because other callers may wait for the same look-up.
    CompletableFuture<@Nullable Finding> finding = literal != null
        ? CompletableFuture.completedFuture(lookup.ofLiteral(url.host(), literal))
        : lookup.find(url.host()).<@Nullable Finding>thenApply(found -> found).completeOnTimeout(null,
            CHECK_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    return finding.thenAccept(this::check);
  }

  private void check(@Nullable Finding finding) {
    if (finding instanceof Denied denied) {
      throw new IllegalArgumentException("delivery.url: " + denied.detail());
    }
    if (finding instanceof Unresolved unresolved) {
      if (!options.allowUnresolved()) {
        throw new IllegalArgumentException("delivery.url: " + unresolved.detail());
      }
      LOG.log(System.Logger.Level.WARNING,
          "a host does not resolve yet; callbacks to this host fail until it resolves: {0}", unresolved.detail());
    }
  }

  @Override
  public String destination(Target target) {
    try {
      return read(target).url().destination();
    } catch (IllegalArgumentException e) {
      return "http"; // deliver() fails each attempt of a malformed target
    }
  }

  private HttpTarget read(Target target) {
    return targets.get(target, this::parse);
  }

  private HttpTarget parse(Target target) {
    HttpTarget parsed = HttpTarget.parse(target);
    int port = parsed.url().port();
    if (options.ports().stream().noneMatch(range -> range.contains(port))) {
      throw new IllegalArgumentException("delivery.url: callbacks may not reach this port; the operator of the server"
          + " can allow it (delivery.ports): port=" + port + ", allowed=" + options.ports());
    }
    return parsed;
  }

  /** Returns the number of targets whose parsed settings are kept. */
  long targetsKept() {
    targets.cleanUp();
    return targets.estimatedSize();
  }

  @Override
  public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
    HttpTarget target;
    try {
      target = read(attempt.target());
    } catch (IllegalArgumentException e) {
      return CompletableFuture
          .completedFuture(new Answer.Retry(null, Health.WELL, "the queue cannot deliver: " + e.getMessage()));
    }
    // The engine has no more attempts under way than maxInFlight. This check protects against other callers.
    if (inFlight.incrementAndGet() > options.maxInFlight()) {
      inFlight.decrementAndGet();
      return CompletableFuture.completedFuture(new Answer.Retry(null, Health.OVERLOADED,
          "too many callbacks are under way on this node: maxInFlight=" + options.maxInFlight()));
    }
    Exchange exchange = new Exchange(this, attempt, target);
    exchanges.add(exchange);
    if (closed) {
      exchange.end(closedAnswer());
    } else {
      exchange.begin();
    }
    return exchange.stage();
  }

  private static Answer closedAnswer() {
    return new Answer.Retry(null, Health.WELL, "this node stopped while the callback was under way");
  }

  @Override
  public int maxInFlight() {
    return options.maxInFlight();
  }

  /** Returns the number of callbacks under way. */
  public int inFlight() {
    return inFlight.get();
  }

  HttpDeliveryOptions options() {
    return options;
  }

  HostLookup lookup() {
    return lookup;
  }

  CallbackClient client() {
    return client;
  }

  long wallMillis() {
    return clock.wallMillis();
  }

  /** Removes an exchange that has ended. Each exchange calls this method once. */
  void ended(Exchange exchange) {
    exchanges.remove(exchange);
    inFlight.decrementAndGet();
  }

  /** Ends each attempt under way with {@link Answer.Retry}, although its request may have reached the receiver. */
  @Override
  public void close() {
    closed = true;
    exchanges.forEach(exchange -> exchange.end(closedAnswer()));
    client.close();
    ownLookups.forEach(ExecutorService::shutdownNow);
  }
}
