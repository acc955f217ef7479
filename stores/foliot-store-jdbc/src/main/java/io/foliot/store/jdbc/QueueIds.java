package io.foliot.store.jdbc;

import io.foliot.core.store.format.DamagedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The numbers of queues. Rows contain numbers instead of names, to save space. A number never changes. Thread-safe. */
final class QueueIds {
  private static final System.Logger LOG = System.getLogger(QueueIds.class.getName());
  /**
   * Prefix of the name that replaces the lost name of a queue. The name of a real queue never begins with this prefix.
   */
  private static final String NAMELESS = "#";
  /** Value for a queue that has no number. No row contains it. */
  static final int NONE = -1;

  private final Dialect dialect;
  private final String selectNumber;
  private final String selectName;
  private final String insertQueue;
  private final Map<String, Integer> numbers = new ConcurrentHashMap<>();
  private final Map<Integer, String> names = new ConcurrentHashMap<>();

  QueueIds(Dialect dialect) {
    this.dialect = dialect;
    selectNumber = dialect.files().text("queue_number");
    selectName = dialect.files().text("queue_name");
    insertQueue = dialect.files().text("insert_queue");
  }

  /** Returns the number of a queue. {@link #take} or {@link #find} must have returned this number before. */
  int of(String queue) {
    Integer number = numbers.get(queue);
    if (number == null) {
      throw new IllegalStateException("the queue has no number yet: queue=" + queue);
    }
    return number;
  }

  /** Returns the number of a queue, or {@link #NONE} if the queue has no number. */
  int find(Connection connection, String queue) throws SQLException {
    Integer known = numbers.get(queue);
    if (known != null) {
      return known;
    }
    try (PreparedStatement select = dialect.prepare(connection, selectNumber)) {
      dialect.text(select, 1, queue);
      try (ResultSet found = select.executeQuery()) {
        return found.next() ? remembered(found.getInt(1), queue) : NONE;
      }
    }
  }

  /** Returns whether the number of a queue is known without a statement. */
  boolean isKnown(String queue) {
    return numbers.containsKey(queue);
  }

  /** Returns the number of a queue. Assigns a number if the queue has none. */
  int take(Connection connection, String queue) throws SQLException {
    int number = find(connection, queue);
    if (number != NONE) {
      return number;
    }
    try (PreparedStatement insert = dialect.prepare(connection, insertQueue)) {
      dialect.text(insert, 1, queue);
      insert.executeUpdate();
    }
    number = find(connection, queue);
    if (number == NONE) {
      throw new DamagedException("a queue has no number although one was assigned: queue=" + queue, null);
    }
    return number;
  }

  /** Returns the name of the queue with this number; if the table has lost the name, a substitute. */
  String name(Connection connection, int number) throws SQLException {
    String known = names.get(number);
    if (known != null) {
      return known;
    }
    try (PreparedStatement select = dialect.prepare(connection, selectName)) {
      select.setInt(1, number);
      try (ResultSet found = select.executeQuery()) {
        boolean isKnown = found.next();
        if (!isKnown) {
          LOG.log(System.Logger.Level.ERROR, "foliot_queue has lost the name of a queue that has tasks; the"
              + " tasks wait, and are listed under a name made of the number: number={0}", number);
        }
        String name = isKnown ? dialect.text(found, 1) : NAMELESS + number;
        int same = remembered(number, name);
        assert same == number;
        return name;
      }
    }
  }

  private int remembered(int number, String name) {
    names.put(number, name);
    numbers.put(name, number);
    return number;
  }
}
