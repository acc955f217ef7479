package io.foliot.delivery.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TimeSource;
import io.foliot.delivery.http.HostLookup.Finding;
import io.foliot.delivery.http.HostLookup.Permitted;
import io.foliot.delivery.http.HostLookup.Unresolved;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class HostLookupTest {
  private static final int MAX_HOSTS = 10_000;
  private static final Duration KEEP = Duration.ofSeconds(30);

  /** Time of the clock. It overflows when a test advances it. */
  private long nowNanos = Long.MAX_VALUE - 5;
  private final TimeSource clock = new TimeSource() {
    @Override
    public long wallMicros() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      return nowNanos;
    }
  };
  private final List<String> resolved = new ArrayList<>();
  private final Deque<Runnable> deferred = new ArrayDeque<>();
  private boolean defers;
  private final HostLookup lookup = new HostLookup(this::resolve, this::execute, this::execute, clock,
      new AddressRules(HttpDeliveryOptions.builder().build().allowedNetworks(), List.of(), true), KEEP);

  private List<InetAddress> resolve(String host) throws UnknownHostException {
    resolved.add(host);
    if (host.startsWith("missing")) {
      throw new UnknownHostException(host);
    }
    return List.of(InetAddress.getLoopbackAddress());
  }

  private void execute(Runnable search) {
    if (defers) {
      deferred.add(search);
    } else {
      search.run();
    }
  }

  private void advance(Duration time) {
    nowNanos += time.toNanos();
  }

  private void find(int from, int to) {
    for (int i = from; i < to; i++) {
      assertThat(lookup.find("host" + i)).isCompletedWithValueMatching(Permitted.class::isInstance);
    }
  }

  private boolean isKept(String host) {
    try {
      return lookup.resolve(host).length > 0;
    } catch (UnknownHostException e) {
      return false;
    }
  }

  @Test
  void aFindingIsKeptForItsTime() {
    find(0, 1);
    advance(KEEP.dividedBy(2).minusNanos(1));
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    assertThat(resolved).as("no refresh in the first half of the time").hasSize(1);
    defers = true;
    advance(Duration.ofNanos(1));
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    assertThat(deferred).as("one look-up at a time").hasSize(1);
    deferred.remove().run();
    advance(KEEP.minusNanos(1));
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    advance(Duration.ofNanos(1));
    deferred.remove().run();
    advance(KEEP);
    assertThat(lookup.known("host0")).isNull();
  }

  @Test
  void anUnresolvedHostIsKnownForASecond() {
    assertThat(lookup.find("missing")).isCompletedWithValueMatching(Unresolved.class::isInstance);
    advance(Duration.ofSeconds(1).minusNanos(1));
    assertThat(lookup.known("missing")).isInstanceOf(Unresolved.class);
    advance(Duration.ofNanos(1));
    assertThat(lookup.known("missing")).isNull();
  }

  @Test
  void oldFindingsAreDroppedBeforeFreshOnes() {
    find(0, 1_000);
    advance(Duration.ofSeconds(61));
    find(1_000, MAX_HOSTS);
    assertThat(isKept("host0")).as("up to the bound, old findings are kept").isTrue();
    find(MAX_HOSTS, MAX_HOSTS + 1);
    assertThat(isKept("host0")).isFalse();
    assertThat(isKept("host999")).isFalse();
    assertThat(isKept("host1000")).isTrue();
    assertThat(isKept("host" + MAX_HOSTS)).isTrue();
  }

  @Test
  void addressesThatMayStillBeUsedAreKept() {
    find(1, MAX_HOSTS);
    advance(Duration.ofSeconds(2));
    find(0, 1);
    advance(Duration.ofSeconds(59));
    assertThat(lookup.known("host0")).as("the finding has expired").isNull();
    find(MAX_HOSTS, MAX_HOSTS + 1);
    assertThat(isKept("host0")).isTrue();
    assertThat(isKept("host1")).isFalse();
  }

  @Test
  void aFreshUnresolvedFindingIsNotDropped() {
    find(1, MAX_HOSTS);
    advance(Duration.ofSeconds(61));
    assertThat(lookup.find("missing")).isCompletedWithValueMatching(Unresolved.class::isInstance);
    find(MAX_HOSTS, MAX_HOSTS + 1);
    assertThat(isKept("host1")).isFalse();
    assertThat(lookup.known("missing")).isInstanceOf(Unresolved.class);
  }

  @Test
  void freshFindingsAreDroppedIfAllAreFresh() {
    find(0, MAX_HOSTS);
    assertThat(isKept("host0")).isTrue();
    find(MAX_HOSTS, MAX_HOSTS + 1);
    assertThat(isKept("host0")).isFalse();
    assertThat(isKept("host" + MAX_HOSTS)).isTrue();
  }

  @Test
  void aRunningLookUpIsNotDropped() {
    defers = true;
    CompletableFuture<Finding> running = lookup.find("slow");
    defers = false;
    find(0, MAX_HOSTS);
    assertThat(isKept("host0")).as("all but the last were dropped").isFalse();
    assertThat(lookup.find("slow")).isSameAs(running);
    deferred.remove().run();
    assertThat(running).isCompletedWithValueMatching(Permitted.class::isInstance);
    assertThat(isKept("slow")).isTrue();
  }
}
