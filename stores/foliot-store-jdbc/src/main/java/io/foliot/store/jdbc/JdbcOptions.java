package io.foliot.store.jdbc;

import io.foliot.core.store.SetAside;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The options of a store.
 *
 * @param parts the databases, in the order of their first slots, beginning with slot 0; the first database also holds
 *     the documents of the store
 * @param slots how many slots a new store gets; a power of two from 1 to 65,536. A store keeps the number that it was
 *     created with
 * @param connections how many calls each database serves at a time, each on a thread and a connection of its own
 * @param timeout how long a statement may take before it is cancelled
 * @param onSetAside receives each task that is set aside because its record cannot be read, on a thread of the store
 */
public record JdbcOptions(List<JdbcPart> parts, int slots, int connections, Duration timeout,
    Consumer<SetAside> onSetAside) {
  private static final int DEFAULT_SLOTS = 256;
  /**
   * Default number of connections to each database. Each batch is one statement that keeps a core of the server busy. A
   * few more connections than cores are useful, because some statements wait for the disk.
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
      throw new IllegalArgumentException("a store needs at least one connection: connections=" + connections);
    }
    if (timeout.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("the timeout of a statement is at least 1 s: timeout=" + timeout);
    }
  }

  /** Returns the options of one database, with a pool of the store's own and a default for each other setting. */
  public static JdbcOptions of(String url, @Nullable String user, @Nullable String password) {
    return builder(url, user, password).build();
  }

  /** Returns the options of one database, with a pool of the application's and a default for each other setting. */
  public static JdbcOptions of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Returns a builder of options of one database, with a pool of the store's own. */
  public static Builder builder(String url, @Nullable String user, @Nullable String password) {
    return builder(JdbcSource.of(url, user, password));
  }

  /** Returns a builder of options of one database, with a pool of the application's. */
  public static Builder builder(DataSource dataSource) {
    return builder(JdbcSource.of(dataSource));
  }

  /** Returns a builder of options of one database or several. */
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

  /** Builds {@link JdbcOptions}. Not safe for use by several threads. */
  public static final class Builder {
    private List<JdbcPart> parts;
    private int slots = DEFAULT_SLOTS;
    private int connections = DEFAULT_CONNECTIONS;
    private Duration timeout = DEFAULT_TIMEOUT;
    private Consumer<SetAside> onSetAside = setAside -> {
      // The store logs it.
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
     * that it was created with.
     */
    public Builder slots(int value) {
      slots = value;
      return this;
    }

    /**
     * Sets how many calls each database serves at a time, each on a thread and a connection of its own, at least 1; by
     * default 8.
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
     * Sets the receiver of each task that is set aside because its record cannot be read, called on a thread of the
     * store; none by default, because the store logs it.
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
