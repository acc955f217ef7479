package io.foliot.store.jdbc;

import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link JdbcStore}.
 *
 * @param parts the databases, in the order of their first slots, beginning with slot 0; the first database also holds
 *     the documents of the store
 * @param slots how many slots a new store gets; a power of two from 1 to 65,536. A store keeps the number with which it
 *     was created
 * @param connections how many calls each database serves at a time, each with a separate thread and connection
 * @param timeout how long a statement may take before it is cancelled
 * @param onSetAside receives each task that is set aside because its record cannot be read
 */
public record JdbcOptions(List<JdbcPart> parts, int slots, int connections, Duration timeout,
    Consumer<SetAside> onSetAside) {
  private static final int DEFAULT_SLOTS = 256;
  /**
   * Default number of connections to each database. Each batch keeps a core of the server busy. A few more connections
   * than cores are useful, because some statements wait for the disk.
   */
  public static final int DEFAULT_CONNECTIONS = 8;
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(15);

  public JdbcOptions {
    parts = List.copyOf(parts);
    if (slots < 1 || slots > 1 << 16 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("slots: expected a power of two from 1 to 65536, but got " + slots);
    }
    if (parts.isEmpty() || parts.getFirst().firstSlot() != 0) {
      throw new IllegalArgumentException("parts: expected a first database that begins with slot 0, but got " + parts);
    }
    for (int i = 1; i < parts.size(); i++) {
      int first = parts.get(i).firstSlot();
      if (first <= parts.get(i - 1).firstSlot() || first >= slots) {
        throw new IllegalArgumentException(
            "parts: expected first slots in ascending order, below " + slots + ", but got " + first);
      }
    }
    if (connections < 1) {
      throw new IllegalArgumentException("connections: expected at least 1, but got " + connections);
    }
    if (timeout.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("timeout: expected at least 1 s, but got " + timeout);
    }
  }

  /** Returns the options of one database, with a pool that the store opens and a default for each other setting. */
  public static JdbcOptions of(String url, @Nullable String user, @Nullable String password) {
    return builder(url, user, password).build();
  }

  /** Returns the options of one database, with the application's pool and a default for each other setting. */
  public static JdbcOptions of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Returns a builder of options of one database, with a pool that the store opens. */
  public static Builder builder(String url, @Nullable String user, @Nullable String password) {
    return builder(JdbcSource.of(url, user, password));
  }

  /** Returns a builder of options of one database, with the application's pool. */
  public static Builder builder(DataSource dataSource) {
    return builder(JdbcSource.of(dataSource));
  }

  /** Returns a builder of options of one or several databases. */
  public static Builder builder(List<JdbcPart> parts) {
    return new Builder(parts);
  }

  private static Builder builder(JdbcSource source) {
    return new Builder(List.of(new JdbcPart(0, source)));
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder(parts).slots(slots).connections(connections).timeout(timeout).onSetAside(onSetAside);
  }

  /** Builds {@link JdbcOptions}. Not thread-safe. */
  public static final class Builder {
    private List<JdbcPart> parts;
    private int slots = DEFAULT_SLOTS;
    private int connections = DEFAULT_CONNECTIONS;
    private Duration timeout = DEFAULT_TIMEOUT;
    private Consumer<SetAside> onSetAside = setAside -> {
      // The store logs each task that it sets aside.
    };

    private Builder(List<JdbcPart> parts) {
      this.parts = parts;
    }

    /**
     * Sets the databases, in the order of their first slots, beginning with slot 0. The first database also holds the
     * documents of the store.
     */
    public Builder parts(List<JdbcPart> value) {
      parts = value;
      return this;
    }

    /**
     * Sets how many slots a new store gets, a power of two from 1 to 65,536; by default 256. A store keeps the number
     * with which it was created.
     */
    public Builder slots(int value) {
      slots = value;
      return this;
    }

    /**
     * Sets how many calls each database serves at a time, each with a separate thread and connection. The number is at
     * least 1; by default 8.
     */
    public Builder connections(int value) {
      connections = value;
      return this;
    }

    /** Sets how long a statement may take before it is cancelled, at least 1 s; by default 15 s. */
    public Builder timeout(Duration value) {
      timeout = value;
      return this;
    }

    /**
     * Sets the receiver of each task that is set aside because its record cannot be read. The receiver is called on a
     * thread of the store or, in a caller's transaction, on the caller's thread. By default there is no receiver; the
     * store always logs the task.
     */
    public Builder onSetAside(Consumer<SetAside> value) {
      onSetAside = value;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if a value is out of range, or the parts are not in order from slot 0
     */
    public JdbcOptions build() {
      return new JdbcOptions(parts, slots, connections, timeout, onSetAside);
    }
  }
}
