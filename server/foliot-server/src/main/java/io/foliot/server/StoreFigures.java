package io.foliot.server;

import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreStatistics;
import io.foliot.core.store.StoreStatistics.Figure;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The figures of a store as metrics. The figure {@code log.bytes} is published as {@code foliot.store.log.bytes}. */
final class StoreFigures {
  private static final String PREFIX = "foliot.store.";

  private final StoreStatistics statistics;
  // True while a thread reads the figures of the store. During a backup, this read waits until the backup is complete.
  // A scrape must not wait for it, and gets the figures of the previous read.
  private final AtomicBoolean reading = new AtomicBoolean();

  // written by one reading thread at a time, read by the gauges
  private volatile Map<String, Figure> figures;

  StoreFigures(StoreStatistics statistics, MeterRegistry registry) {
    this.statistics = statistics;
    figures = read();
    figures.values().forEach(figure -> register(figure, registry));
  }

  private void register(Figure figure, MeterRegistry registry) {
    String name = PREFIX + figure.name();
    switch (figure.kind()) {
      case LEVEL -> Gauge.builder(name, () -> value(figure.name())).description(figure.about()).register(registry);
      case TOTAL -> FunctionCounter.builder(name, this, self -> self.value(figure.name())).description(figure.about())
          .register(registry);
    }
  }

  private double value(String name) {
    Figure figure = figures.get(name);
    return figure == null ? Double.NaN : figure.value();
  }

  private Map<String, Figure> read() {
    return statistics.figures().stream().collect(Collectors.toUnmodifiableMap(Figure::name, Function.identity()));
  }

  private void readFigures() {
    try {
      figures = read();
    } catch (StoreException e) {
      // The store is closed. The figures of the previous read are kept.
    } finally {
      reading.set(false);
    }
  }

  /** Starts a read of newer figures in the background, unless one is under way. */
  void refresh() {
    if (reading.compareAndSet(false, true)) {
      Thread.startVirtualThread(this::readFigures);
    }
  }
}
