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
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private boolean waits;
  private final HostLookup lookup = new HostLookup(this::resolve, this::execute, this::execute, clock,
      new AddressRules(HttpDeliveryOptions.builder().build().allowedNetworks(), true), KEEP);

  private List<InetAddress> resolve(String host) throws UnknownHostException {
    resolved.add(host);
    if (host.startsWith("missing")) {
      throw new UnknownHostException(host);
    }
    return List.of(InetAddress.getLoopbackAddress());
  }

  private void execute(Runnable search) {
    if (waits) {
      waiting.add(search);
    } else {
      search.run();
    }
  }

  private void passes(Duration time) {
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
    passes(KEEP.dividedBy(2).minusNanos(1));
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    assertThat(resolved).as("no refresh in the first half of the time").hasSize(1);
    waits = true;
    passes(Duration.ofNanos(1));
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    assertThat(waiting).as("one look-up at a time").hasSize(1);
    waiting.remove().run();
    passes(KEEP.minusNanos(1));
    assertThat(lookup.known("host0")).isInstanceOf(Permitted.class);
    passes(Duration.ofNanos(1));
    waiting.remove().run();
    passes(KEEP);
    assertThat(lookup.known("host0")).isNull();
  }

  @Test
  void aMissingHostIsLookedUpOnceASecond() {
    assertThat(lookup.find("missing")).isCompletedWithValueMatching(Unresolved.class::isInstance);
    passes(Duration.ofSeconds(1).minusNanos(1));
    assertThat(lookup.known("missing")).isInstanceOf(Unresolved.class);
    passes(Duration.ofNanos(1));
    assertThat(lookup.known("missing")).isNull();
  }

  @Test
  void oldFindingsAreForgottenBeforeFreshOnes() {
    find(0, 1_000);
    passes(Duration.ofSeconds(61));
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
    passes(Duration.ofSeconds(2));
    find(0, 1);
    passes(Duration.ofSeconds(59));
    assertThat(lookup.known("host0")).as("its finding has expired").isNull();
    find(MAX_HOSTS, MAX_HOSTS + 1);
    assertThat(isKept("host0")).isTrue();
    assertThat(isKept("host1")).isFalse();
  }

  @Test
  void aHostFoundMissingRecentlyIsNotLookedUpAgain() {
    find(1, MAX_HOSTS);
    passes(Duration.ofSeconds(61));
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
  void aRunningLookUpIsNotForgotten() {
    waits = true;
    CompletableFuture<Finding> running = lookup.find("slow");
    waits = false;
    find(0, MAX_HOSTS);
    assertThat(isKept("host0")).as("all but the last were forgotten").isFalse();
    assertThat(lookup.find("slow")).isSameAs(running);
    waiting.remove().run();
    assertThat(running).isCompletedWithValueMatching(Permitted.class::isInstance);
    assertThat(isKept("slow")).isTrue();
  }
}
