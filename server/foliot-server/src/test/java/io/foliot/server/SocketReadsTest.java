package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.helidon.common.socket.HelidonSocket;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class SocketReadsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final CompletableFuture<byte[]> arriving = new CompletableFuture<>();
  private final SocketReads reads = new SocketReads((HelidonSocket) Proxy.newProxyInstance(
      SocketReadsTest.class.getClassLoader(), new Class<?>[]{HelidonSocket.class},
      (proxy, method, args) -> arriving.join()));

  @Test
  void theEndIsToldToEachRequestThatWaitedMeanwhile() {
    CompletableFuture<Void> first = new CompletableFuture<>();
    CompletableFuture<Void> second = new CompletableFuture<>();
    reads.watch(() -> first.complete(null));
    // The second request arrived together with the first one, so the read that has begun was not needed for it.
    reads.watch(() -> second.complete(null));
    arriving.complete(null);
    assertThat(first).succeedsWithin(PATIENCE);
    assertThat(second).succeedsWithin(PATIENCE);
    assertThat(reads.next()).isNull();
  }

  @Test
  void theBytesOfAWatchedReadAreReadOnce() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    reads.watch(() -> ended.complete(null));
    byte[] bytes = {1, 2};
    arriving.complete(bytes);
    assertThat(reads.next()).isSameAs(bytes);
    assertThat(ended).isNotDone();
  }
}
