package io.foliot.delivery.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.SystemClock;
import io.foliot.core.TimeSource;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Attempts while name servers hang or fail. */
class NameServerFailureTest {
  /** Options that make each finding expire after 1 ms, so that later attempts resolve the name again. */
  private static final HttpDeliveryOptions ALWAYS_OLD = HttpDeliveryOptions.builder().allowLoopback(true)
      .connectTimeout(Duration.ofSeconds(5)).addressTtl(Duration.ofMillis(1)).build();
  private static final Duration SHORT = Duration.ofMillis(300);

  /** Latch that ends the hanging look-ups after the test. */
  private final CountDownLatch over = new CountDownLatch(1);
  /** Flag that makes the name server hang or fail. */
  private final AtomicBoolean broken = new AtomicBoolean();
  /** Time by which the delivery's clock is ahead of the system's clock. */
  private final AtomicLong aheadNanos = new AtomicLong();
  private final TimeSource clock = new TimeSource() {
    private final TimeSource real = new SystemClock();

    @Override
    public long wallMicros() {
      return real.wallMicros();
    }

    @Override
    public long monotonicNanos() {
      return real.monotonicNanos() + aheadNanos.get();
    }
  };
  private final ScriptedReceiver receiver = new ScriptedReceiver(ScriptedReceiver.always(ScriptedReceiver.ok()));

  @AfterEach
  void close() throws IOException {
    over.countDown();
    receiver.close();
  }

  private static List<InetAddress> here() throws UnknownHostException {
    return List.of(InetAddress.getByAddress(new byte[]{127, 0, 0, 1}));
  }

  private List<InetAddress> hang() throws UnknownHostException {
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new UnknownHostException("too late");
  }

  private Answer call(Delivery delivery, String host, Duration timeout) throws Exception {
    return Attempts.answer(delivery,
        Attempts.attempt(Attempts.target("http://" + host + ":" + receiver.port() + "/", timeout)));
  }

  private Answer call(Delivery delivery, String host) throws Exception {
    return call(delivery, host, Duration.ofSeconds(10));
  }

  /** Waits until the finding for the host has expired, for up to 20 s. */
  private static void awaitExpiry(HttpDelivery delivery, String host) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (delivery.lookup().known(host) != null && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  @Test
  void hangingLookUpsDelayNoOtherHost() throws Exception {
    CountDownLatch hanging = new CountDownLatch(32);
    try (HttpDelivery delivery = new HttpDelivery(ALWAYS_OLD, clock, host -> {
      if (host.startsWith("dead")) {
        hanging.countDown();
        return hang();
      }
      return here();
    }, null)) {
      assertThat(call(delivery, "good.test")).isInstanceOf(Answer.Done.class);
      List<CompletableFuture<Answer>> dead = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        dead.add(delivery
            .deliver(Attempts.attempt(Attempts.target("http://dead" + i + ".test/", Duration.ofMinutes(1))))
            .toCompletableFuture());
      }
      assertThat(hanging.await(20, TimeUnit.SECONDS)).as("32 look-ups hang at once").isTrue();
      for (int i = 0; i < 50; i++) {
        awaitExpiry(delivery, "good.test");
        assertThat(call(delivery, "good.test")).isInstanceOf(Answer.Done.class);
      }
      assertThat(dead).noneMatch(CompletableFuture::isDone);
    }
  }

  @Test
  void anAddressThatWorkedIsUsedWhileItsLookUpHangs() throws Exception {
    try (HttpDelivery delivery = new HttpDelivery(ALWAYS_OLD, clock, host -> broken.get() ? hang() : here(), null)) {
      assertThat(call(delivery, "good.test")).isInstanceOf(Answer.Done.class);
      broken.set(true);
      for (int i = 0; i < 50; i++) {
        assertThat(call(delivery, "good.test")).isInstanceOf(Answer.Done.class);
      }
      aheadNanos.addAndGet(TimeUnit.SECONDS.toNanos(61));
      assertThat(call(delivery, "good.test", SHORT).detail())
          .startsWith("the host name did not resolve in time; nothing was sent");
    }
  }

  @Test
  void anAddressThatWorkedOutlivesItsNameByAMinuteAtMost() throws Exception {
    try (HttpDelivery delivery = new HttpDelivery(ALWAYS_OLD, clock, host -> {
      if (broken.get()) {
        throw new UnknownHostException(host);
      }
      return here();
    }, null)) {
      assertThat(call(delivery, "good.test")).isInstanceOf(Answer.Done.class);
      broken.set(true);
      for (int i = 0; i < 50; i++) {
        assertThat(call(delivery, "good.test")).isInstanceOf(Answer.Done.class);
      }
      aheadNanos.addAndGet(TimeUnit.SECONDS.toNanos(61));
      assertThat(call(delivery, "good.test").detail()).startsWith("the host does not resolve");
    }
  }

  @Test
  void aHostThatALaterLookUpDeniedIsNotCalled() throws Exception {
    AtomicBoolean denied = new AtomicBoolean();
    try (HttpDelivery delivery = new HttpDelivery(ALWAYS_OLD, clock, host -> {
      if (broken.get()) {
        return hang();
      }
      return denied.get() ? List.of(InetAddress.getByAddress(new byte[]{10, 0, 0, 1})) : here();
    }, null)) {
      assertThat(call(delivery, "turns.test")).isInstanceOf(Answer.Done.class);
      denied.set(true);
      awaitExpiry(delivery, "turns.test");
      assertThat(call(delivery, "turns.test").detail()).contains("private");
      broken.set(true);
      awaitExpiry(delivery, "turns.test");
      assertThat(call(delivery, "turns.test", Duration.ofSeconds(3)).detail())
          .startsWith("the host name did not resolve in time");
      assertThat(receiver.requests).hasValue(1);
    }
  }
}
