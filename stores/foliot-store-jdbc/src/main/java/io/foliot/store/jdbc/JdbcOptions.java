package io.foliot.store.jdbc;

import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * How a store shall be.
 *
 * @param parts the databases, in the order of their first slots, the first of which is 0; settings live in the first
 * @param slots how many slots a new store gets; a power of two from 1 to 65,536. A store keeps what it was made with
 * @param connections how many calls each database serves at a time, each on a thread and a connection of its own
 * @param timeout how long a statement may take before it is given up
 * @param onSetAside told of each task that is set aside because its record cannot be read, on a thread of the store's
 */
public record JdbcOptions(List<JdbcPart> parts, int slots, int connections, Duration timeout,
    Consumer<SetAside> onSetAside) {
  private static final int DEFAULT_SLOTS = 256;
  /**
   * Connections to each database unless set. Each batch is one statement that keeps a core of the server busy; a few
   * more than it has cores wait for its disk.
   */
  public static final int DEFAULT_CONNECTIONS = 8;
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(15);

  public JdbcOptions {
    parts = List.copyOf(parts);
    if (slots < 1 || slots > 1 << 16 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("the number of slots is a power of two up to 65536: slots=" + slots);
    }
    if (parts.isEmpty() || parts.getFirst().firstSlot() != 0) {
      throw new IllegalArgumentException("the first database begins with slot 0: databases=" + parts);
    }
    for (int i = 1; i < parts.size(); i++) {
      int first = parts.get(i).firstSlot();
      if (first <= parts.get(i - 1).firstSlot() || first >= slots) {
        throw new IllegalArgumentException(
            "databases are in the order of their first slots: slot=" + first + ", slots=" + slots);
      }
    }
    if (connections < 1) {
      throw new IllegalArgumentException("a store needs a connection: connections=" + connections);
    }
    if (timeout.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("a statement may take at least a second: timeout=" + timeout);
    }
  }

  /** One database, with a pool of the store's own; 256 slots, 8 connections, 15 seconds. */
  public static JdbcOptions of(String url, @Nullable String user, @Nullable String password) {
    return of(JdbcSource.of(url, user, password));
  }

  /** One database, with a pool of the application's. */
  public static JdbcOptions of(DataSource dataSource) {
    return of(JdbcSource.of(dataSource));
  }

  private static JdbcOptions of(JdbcSource source) {
    return new JdbcOptions(List.of(new JdbcPart(0, source)), DEFAULT_SLOTS, DEFAULT_CONNECTIONS, DEFAULT_TIMEOUT,
        setAside -> {
          // The store logs it.
        });
  }

  /** The same over other databases. */
  public JdbcOptions withParts(List<JdbcPart> newParts) {
    return new JdbcOptions(newParts, slots, connections, timeout, onSetAside);
  }

  /** The same with another number of slots. */
  public JdbcOptions withSlots(int newSlots) {
    return new JdbcOptions(parts, newSlots, connections, timeout, onSetAside);
  }

  /** The same with another number of connections. */
  public JdbcOptions withConnections(int newConnections) {
    return new JdbcOptions(parts, slots, newConnections, timeout, onSetAside);
  }

  /** The same with another time for a statement. */
  public JdbcOptions withTimeout(Duration newTimeout) {
    return new JdbcOptions(parts, slots, connections, newTimeout, onSetAside);
  }

  /** The same with another listener for tasks that are set aside. */
  public JdbcOptions withOnSetAside(Consumer<SetAside> newOnSetAside) {
    return new JdbcOptions(parts, slots, connections, timeout, newOnSetAside);
  }
}
