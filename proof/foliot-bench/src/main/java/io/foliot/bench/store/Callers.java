package io.foliot.bench.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Concurrent callers. Each caller makes a call, waits for the answer, and repeats this until the time is over. */
final class Callers implements Contender {
  private final String name;
  private final int callers;
  private final Site site;
  private final Maker<CallLoad> calls;

  Callers(String name, int callers, Site site, Maker<CallLoad> calls) {
    this.name = name;
    this.callers = callers;
    this.site = site;
    this.calls = calls;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Rate round(Work work) throws Exception {
    try (CallLoad load = calls.make()) {
      site.settle();
      Rate rate = run(load, work);
      load.ensureDone(rate.count());
      return rate;
    }
  }

  private Rate run(CallLoad load, Work work) throws Exception {
    AtomicLong items = new AtomicLong();
    AtomicLong startedNanos = new AtomicLong();
    CyclicBarrier start = new CyclicBarrier(callers, () -> startedNanos.set(System.nanoTime()));
    try (ExecutorService threads = Executors.newFixedThreadPool(callers)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        int caller = i;
        all.add(threads.submit(() -> {
          start.await();
          long endNanos = startedNanos.get() + work.time().toNanos();
          int turn = 0;
          do {
            items.addAndGet(load.call(caller, turn++));
          } while (System.nanoTime() - endNanos < 0);
          return null;
        }));
      }
      for (Future<?> caller : all) {
        caller.get();
      }
      return new Rate(items.get(), System.nanoTime() - startedNanos.get());
    }
  }
}
