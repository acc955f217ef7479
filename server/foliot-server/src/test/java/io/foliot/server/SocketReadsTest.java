package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.helidon.common.socket.HelidonSocket;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SocketReadsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final byte[] FIRST = {1, 2};
  private static final byte[] SECOND = {3};

  /** The results of the reads: a read waits while this queue is empty. A failed future is a failed read. */
  private final BlockingQueue<CompletableFuture<byte @Nullable []>> arriving = new LinkedBlockingQueue<>();
  private final AtomicInteger begun = new AtomicInteger();
  private final SocketReads reads = new SocketReads((HelidonSocket) Proxy.newProxyInstance(
      SocketReadsTest.class.getClassLoader(), new Class<?>[]{HelidonSocket.class}, (proxy, method, args) -> {
        begun.incrementAndGet();
        CompletableFuture<byte @Nullable []> result = arriving.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        if (result.isCompletedExceptionally()) {
          throw result.exceptionNow();
        }
        return result.join();
      }));

  private void arrives(byte @Nullable [] bytes) {
    arriving.add(CompletableFuture.completedFuture(bytes));
  }

  private CompletableFuture<Void> watched() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    reads.watch(() -> ended.complete(null));
    return ended;
  }

  @Test
  void bytesBeforeTheEndDoNotHideIt() {
    CompletableFuture<Void> ended = watched();
    arrives(FIRST);
    arrives(SECOND);
    arrives(null);
    assertThat(ended).succeedsWithin(PATIENCE);
    assertThat(reads.next()).isSameAs(FIRST);
    assertThat(reads.next()).isSameAs(SECOND);
    assertThat(reads.next()).isNull();
    assertThat(watched()).as("a later request").isCompleted();
  }

  @Test
  void theEndIsToldToTheRequestThatWaits() {
    CompletableFuture<Void> first = watched();
    reads.unwatch();
    // The second request arrived together with the first one, so the read that has begun was not needed for it.
    CompletableFuture<Void> second = watched();
    arrives(null);
    assertThat(second).succeedsWithin(PATIENCE);
    assertThat(first).isNotDone();
    assertThat(reads.next()).isNull();
    assertThat(begun).hasValue(1);
  }

  @Test
  void aFailedReadIsTheEndAndIsReportedByTheNextRead() {
    CompletableFuture<Void> ended = watched();
    arriving.add(CompletableFuture.failedFuture(new UncheckedIOException(new SocketException("reset"))));
    assertThat(ended).succeedsWithin(PATIENCE);
    assertThatThrownBy(reads::next).isInstanceOf(UncheckedIOException.class).hasMessageContaining("reset");
  }

  @Test
  void theBytesOfAWatchedReadAreReadOnce() {
    CompletableFuture<Void> ended = watched();
    reads.unwatch();
    arrives(FIRST);
    assertThat(reads.next()).isSameAs(FIRST);
    assertThat(begun).as("no read ahead without a request that waits").hasValue(1);
    arrives(SECOND);
    assertThat(reads.next()).isSameAs(SECOND);
    assertThat(ended).isNotDone();
  }

  @Test
  void theBytesThatAreReadAheadAreBounded() {
    byte[] most = new byte[SocketReads.MAX_AHEAD_BYTES];
    CompletableFuture<Void> ended = watched();
    arrives(most);
    arrives(null);
    assertThat(reads.next()).isSameAs(most);
    assertThat(begun).hasValue(1);
    assertThat(ended).isNotDone();
    reads.unwatch();
    assertThat(reads.next()).isNull();
  }
}
