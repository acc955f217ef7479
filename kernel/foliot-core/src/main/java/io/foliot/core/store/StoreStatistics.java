package io.foliot.core.store;

import java.util.List;

/** Figures of a store's work and contents. A capability: see {@link TaskStore#capability}. */
public interface StoreStatistics {
  /**
   * Reads the figures. Each call returns the same names. May block, for example while a backup is being written.
   *
   * @throws StoreException if the store is closed
   */
  List<Figure> figures();

  /** The kind of a figure. */
  enum Kind {
    /** A present quantity in the store; may fall. */
    LEVEL,
    /** A count of the store's work since it was opened; never falls. */
    TOTAL
  }

  /**
   * A figure.
   *
   * @param name lower-case words with dots; the last word is the unit if the figure has one: {@code log.bytes}
   * @param about a description, for display
   */
  record Figure(String name, Kind kind, String about, double value) {
    /** Creates the figure of a present quantity in the store. */
    public static Figure level(String name, String about, long value) {
      return new Figure(name, Kind.LEVEL, about, (double) value);
    }

    /** Creates the figure of a count of the store's work. */
    public static Figure total(String name, String about, long value) {
      return new Figure(name, Kind.TOTAL, about, (double) value);
    }

    /** Creates the figure of a time that the store has spent, in seconds. */
    public static Figure seconds(String name, String about, long micros) {
      return new Figure(name, Kind.TOTAL, about, micros / 1e6);
    }
  }
}
