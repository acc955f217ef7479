package io.foliot.bench.store;

import com.zaxxer.hikari.HikariDataSource;
import io.foliot.core.TaskId;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A load of inserts without a scheduler. Each call is a transaction of its own. The table has the columns of a task, a
 * primary key, and the one index that every scheduler needs. A batch is one statement over arrays in PostgreSQL, and a
 * JDBC batch in MariaDB.
 */
final class BareInserts implements CallLoad {
  private static final Duration LATER = Duration.ofDays(1);
  private static final int SLOTS = 256;
  private static final String COLUMNS = """
      (wake_at bigint NOT NULL, due_at bigint NOT NULL, first_due_at bigint NOT NULL, created_at bigint NOT NULL,
        changed_at bigint NOT NULL, generation bigint NOT NULL, version bigint NOT NULL, lease_end bigint,
        claimed_at bigint, queue integer NOT NULL, part integer NOT NULL, attempt integer NOT NULL,
        max_attempts integer NOT NULL, state smallint NOT NULL, settled_as smallint, cancel_requested boolean NOT NULL,
        outstanding boolean NOT NULL, id %s NOT NULL PRIMARY KEY, token %s, task_key varchar(256), body %s NOT NULL)""";
  private static final String INSERT = """
      INSERT INTO bare_task (wake_at, due_at, first_due_at, created_at, changed_at, generation, version, queue, part,
        attempt, max_attempts, state, cancel_requested, outstanding, id, body)\s""";

  private final SqlSite site;
  private final boolean isPostgres;
  private final HikariDataSource connections;
  private final int batch;
  private final AtomicInteger next = new AtomicInteger();
  private final SplittableRandom[] randoms;

  BareInserts(SqlSite site, int callers, int batch) throws SQLException {
    this.site = site;
    this.batch = batch;
    isPostgres = site instanceof PostgresSite;
    site.fresh();
    site.execute("CREATE TABLE bare_task " + (isPostgres
        ? COLUMNS.formatted("uuid", "uuid", "bytea")
        : COLUMNS.formatted("binary(16)", "binary(16)", "blob")),
        "CREATE INDEX bare_task_wake ON bare_task (part, wake_at, id)");
    connections = site.pool(callers);
    randoms = new SplittableRandom[callers];
    SplittableRandom seeds = new SplittableRandom();
    for (int caller = 0; caller < callers; caller++) {
      randoms[caller] = seeds.split();
    }
  }

  @Override
  public int call(int caller, int turn) throws SQLException {
    int first = next.getAndAdd(batch);
    try (Connection connection = connections.getConnection()) {
      if (isPostgres && batch > 1) {
        insertArrays(connection, first, randoms[caller]);
      } else {
        insertRows(connection, first, randoms[caller]);
      }
    }
    return batch;
  }

  private void insertArrays(Connection connection, int first, SplittableRandom random) throws SQLException {
    long now = System.currentTimeMillis();
    Long[] dueAt = new Long[batch];
    Integer[] parts = new Integer[batch];
    UUID[] ids = new UUID[batch];
    byte[][] bodies = new byte[batch][];
    for (int i = 0; i < batch; i++) {
      TaskId id = TaskId.of(now, random.nextInt(), random.nextLong());
      dueAt[i] = now + LATER.toMillis();
      parts[i] = id.slot(SLOTS);
      ids[i] = new UUID(id.high(), id.low());
      bodies[i] = FoliotNode.body(first + i).payload();
    }
    try (PreparedStatement insert = connection.prepareStatement(INSERT + """
        SELECT due, due, due, ?, ?, ?, 1, 1, part, 0, 0, 0, false, false, id, body
        FROM unnest(?, ?, ?, ?) AS task (due, part, id, body)""")) {
      insert.setLong(1, now);
      insert.setLong(2, now);
      insert.setLong(3, now * 1_000);
      insert.setArray(4, connection.createArrayOf("bigint", dueAt));
      insert.setArray(5, connection.createArrayOf("integer", parts));
      insert.setArray(6, connection.createArrayOf("uuid", ids));
      insert.setArray(7, connection.createArrayOf("bytea", bodies));
      ensureAll(insert.executeUpdate());
    }
  }

  private void insertRows(Connection connection, int first, SplittableRandom random) throws SQLException {
    long now = System.currentTimeMillis();
    long dueAt = now + LATER.toMillis();
    connection.setAutoCommit(batch == 1);
    try (PreparedStatement insert = connection
        .prepareStatement(INSERT + "VALUES (?, ?, ?, ?, ?, ?, 1, 1, ?, 0, 0, 0, false, false, ?, ?)")) {
      for (int number = first; number < first + batch; number++) {
        TaskId id = TaskId.of(now, random.nextInt(), random.nextLong());
        insert.setLong(1, dueAt);
        insert.setLong(2, dueAt);
        insert.setLong(3, dueAt);
        insert.setLong(4, now);
        insert.setLong(5, now);
        insert.setLong(6, now * 1_000);
        insert.setInt(7, id.slot(SLOTS));
        if (isPostgres) {
          insert.setObject(8, new UUID(id.high(), id.low()));
        } else {
          insert.setBytes(8, ByteBuffer.allocate(16).putLong(id.high()).putLong(id.low()).array());
        }
        insert.setBytes(9, FoliotNode.body(number).payload());
        if (batch > 1) {
          insert.addBatch();
        }
      }
      if (batch > 1) {
        ensureAll(insert.executeBatch().length);
        connection.commit();
      } else {
        ensureAll(insert.executeUpdate());
      }
    }
  }

  private void ensureAll(int rows) {
    if (rows != batch) {
      throw new IllegalStateException("every row must be inserted: rows=" + rows + ", batch=" + batch);
    }
  }

  @Override
  public void ensureDone(long items) throws SQLException {
    long rows = site.number("SELECT count(*) FROM bare_task");
    if (rows != items) {
      throw new IllegalStateException("the table must hold every inserted row: inserted=" + items + ", rows=" + rows);
    }
  }

  @Override
  public void close() {
    connections.close();
  }
}
