package io.foliot.store.redis;

import io.lettuce.core.protocol.CommandType;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The background work of a store. It reads the number of parts, deletes the expired records of all parts, and reads the
 * server's settings again. No call waits for this work. If the work fails, memory grows, and the reported durability
 * may be outdated.
 */
final class Upkeep implements AutoCloseable {
  private static final Logger LOG = System.getLogger(Upkeep.class.getName());
  private static final long EVERY_SECONDS = 1;
  /** Number of runs, one per second, that sweep each part at least once and read the settings once. */
  private static final int ROUND_SECONDS = 10;
  /**
   * Maximum number of expired records, and of expired answers, that one script deletes. Such a script blocks the server
   * for some milliseconds.
   */
  private static final int SWEPT_AT_ONCE = 500;
  /**
   * Number of consecutive failures for which one warning is logged. A shorter outage needs no warning, because the
   * application notices it when its calls fail.
   */
  private static final int WARNED_EACH = 60;

  private final Link link;
  private final Layout layout;
  private final Partitions parts;
  private final BatchExecutor calls;
  private final Consumer<ServerFacts> refresh;
  private final ScheduledExecutorService thread = Executors
      .newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("foliot-redis-upkeep").factory());

  // upkeep thread only
  private int failures;
  private int nextPart;
  private int seconds;

  Upkeep(Link link, Layout layout, Partitions parts, BatchExecutor calls, Consumer<ServerFacts> refresh) {
    this.link = link;
    this.layout = layout;
    this.parts = parts;
    this.calls = calls;
    this.refresh = refresh;
  }

  void start() {
    var scheduled = thread.scheduleWithFixedDelay(this::run, EVERY_SECONDS, EVERY_SECONDS, TimeUnit.SECONDS);
    assert scheduled != null;
  }

  private void run() {
    try {
      CompletableFuture<List<Object>> slots = link.command(CommandType.HMGET, layout.global("slots"),
          Layout.bytes("bits"), Layout.bytes("complete"));
      parts.update((int) Layout.number((byte[]) slots.join().getFirst()),
          (int) Layout.number((byte[]) slots.join().get(1)));
      sweep();
      if (++seconds % ROUND_SECONDS == 0) {
        refresh.accept(ServerFacts.read(link).join());
      }
      failures = 0;
    } catch (RuntimeException e) {
      failures++;
      LOG.log(failures % WARNED_EACH == 0 ? Level.WARNING : Level.DEBUG,
          "the upkeep of the store failed and is retried in a second; expired records stay: failuresInARow=" + failures,
          e);
    }
  }

  private void sweep() {
    int bits = parts.state().bits();
    int count = 1 << bits;
    Link.Pipeline pipeline = link.pipeline();
    List<CompletableFuture<List<Object>>> sweeps = new ArrayList<>();
    for (int i = Math.ceilDiv(count, ROUND_SECONDS); i > 0; i--) {
      nextPart = (nextPart + 1) % count;
      List<byte[]> arguments = calls.arguments(bits);
      arguments.add(Layout.bytes(SWEPT_AT_ONCE));
      sweeps.add(pipeline.step(Script.SWEEP, layout.part(nextPart), arguments));
    }
    pipeline.send();
    sweeps.forEach(CompletableFuture::join);
  }

  @Override
  public void close() {
    var waiting = thread.shutdownNow();
    assert waiting != null;
  }
}
