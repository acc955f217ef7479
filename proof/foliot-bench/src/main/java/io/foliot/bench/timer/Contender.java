package io.foliot.bench.timer;

import io.foliot.wheel.WheelScheduledExecutor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Supplier;

/** The timers that are compared. */
enum Contender {
  WHEEL_TIMER("Foliot WheelTimer, inline") {
    @Override
    Peer create() {
      return new WheelTimerPeer();
    }
  },

  WHEEL_EXECUTOR("Foliot WheelScheduledExecutor") {
    @Override
    Peer create() {
      return new ExecutorPeer(WheelScheduledExecutor.create());
    }
  },

  NETTY("Netty HashedWheelTimer, 1 ms") {
    @Override
    Peer create() {
      return new NettyPeer();
    }
  },

  KAFKA("Kafka SystemTimer") {
    @Override
    Peer create() {
      return new KafkaPeer();
    }
  },

  THREAD_POOL("ScheduledThreadPoolExecutor") {
    @Override
    Peer create() {
      ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
      executor.setRemoveOnCancelPolicy(true);
      return new ExecutorPeer(executor);
    }
  },

  FORK_JOIN_POOL("ForkJoinPool.schedule") {
    @Override
    Peer create() {
      return new ExecutorPeer(scheduling(new ForkJoinPool()));
    }

    @Override
    boolean isAvailable() {
      return ScheduledExecutorService.class.isAssignableFrom(ForkJoinPool.class);
    }
  },

  DELAY_QUEUE("DelayQueue") {
    @Override
    Peer create() {
      return new DelayQueuePeer();
    }

    @Override
    boolean searchesToCancel() {
      return true;
    }
  },

  JAVA_TIMER("java.util.Timer") {
    @Override
    Peer create() {
      return new JavaTimerPeer();
    }
  };

  private final String title;

  Contender(String title) {
    this.title = title;
  }

  /** Creates a peer in which no timer waits. */
  abstract Peer create();

  Supplier<Peer> maker() {
    return this::create;
  }

  /** Returns whether this JDK has this timer. */
  boolean isAvailable() {
    return true;
  }

  /** Returns whether a cancel takes time in proportion to the number of timers. */
  boolean searchesToCancel() {
    return false;
  }

  String title() {
    return title;
  }

  /** Casts a ForkJoinPool, which implements this interface since JDK 25. We compile for an older release. */
  private static ScheduledExecutorService scheduling(Object pool) {
    return (ScheduledExecutorService) pool;
  }
}
