package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Probed;
import io.foliot.core.store.SlotSet;
import io.foliot.store.jdbc.Dialect.RowGroup;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The {@link QueryStatements} of PostgreSQL. */
final class PostgresQueries implements QueryStatements {
  private static final String BODY = "record.body";
  /** Number of rows that one statement examines for tasks of a queue; few enough for less than a second. */
  static final int HAS_LIVE_PAGE = 10_000;

  private final PostgresStatements statements;
  private final Results results;
  private final String probe;
  private final String due;
  private final SqlFiles.Template parked;
  private final SqlFiles.Template parkedQueues;
  private final String pageOfLive;
  private final SqlFiles.Template pageOfQueue;
  private final String hasLive;
  private final String pageHasLive;
  private final String tally;
  private final String forgetKept;
  private final String forgetAnswers;

  PostgresQueries(PostgresStatements statements, Results results) {
    this.statements = statements;
    this.results = results;
    SqlFiles files = statements.files();
    probe = files.text("probe");
    due = files.text("due");
    parked = files.template("parked", "slots?");
    parkedQueues = files.template("parked_queues", "slots?");
    pageOfLive = files.template("page_of_live", "body").with("body", BODY).text();
    pageOfQueue = files.template("page_of_queue", "body", "state?");
    hasLive = files.text("has_live");
    pageHasLive = files.text("page_has_live");
    tally = files.text("tally");
    forgetKept = files.text("forget_kept");
    forgetAnswers = files.text("forget_answers");
  }

  @Override
  public List<Probed> probe(Connection connection, List<TaskId> ids) throws SQLException {
    UuidArray array = PostgresStatements.ids(ids, id -> id);
    try (PreparedStatement statement = statements.batch(connection, probe)) {
      new PostgresArrays(connection, statement).ids(array);
      try (ResultSet row = PostgresStatements.rows(statement)) {
        return Results.probed(row, ids.size());
      }
    }
  }

  @Override
  public List<DueSlice> due(Connection connection, QueueIds numbers, List<DueScan> scans) throws SQLException {
    int count = scans.size();
    int[] parts = new int[count];
    long[] from = new long[count];
    UuidArray after = new UuidArray(count);
    long[] to = new long[count];
    int[] limits = new int[count];
    List<List<DueEntry>> found = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      DueScan scan = scans.get(i);
      TaskId behind = scan.after();
      parts[i] = scan.slot();
      from[i] = scan.fromWakeAt();
      after.set(i, behind == null ? Results.NO_ID : behind);
      to[i] = scan.toWakeAt();
      limits[i] = scan.limit() == Integer.MAX_VALUE ? scan.limit() : scan.limit() + 1;
      found.add(new ArrayList<>());
    }
    try (PreparedStatement statement = statements.batch(connection, due)) {
      new PostgresArrays(connection, statement).ints(parts).longs(from).ids(after).longs(to).ints(limits);
      try (ResultSet row = PostgresStatements.rows(statement)) {
        results.due(connection, numbers, row, found);
      }
    }
    return Rows.slices(scans, found);
  }

  @Override
  public List<DueEntry> parked(Connection connection, int queue, String name, SlotSet slots, @Nullable DueEntry after,
      int limit) throws SQLException {
    try (PreparedStatement statement = statements.prepare(connection,
        parked.when("slots", !slots.isAll()).text())) {
      statement.setInt(1, IndexPartitions.parked(queue));
      statement.setLong(2, after == null ? Long.MIN_VALUE : after.wakeAt());
      statement.setObject(3, uuid(after == null ? Results.NO_ID : after.id()));
      int at = bind(statement, 4, slots);
      statement.setInt(at, limit);
      try (ResultSet row = statement.executeQuery()) {
        return results.parked(row, name);
      }
    }
  }

  private static UUID uuid(TaskId id) {
    return new UUID(id.high(), id.low());
  }

  private static int bind(PreparedStatement statement, int at, SlotSet slots) throws SQLException {
    if (slots.isAll()) {
      return at;
    }
    statement.setInt(at, slots.slotCount() - 1);
    statement.setObject(at + 1, Rows.slots(slots));
    return at + 2;
  }

  @Override
  public List<Integer> parkedQueues(Connection connection, SlotSet slots) throws SQLException {
    try (PreparedStatement statement = statements.prepare(connection,
        parkedQueues.when("slots", !slots.isAll()).text())) {
      bind(statement, 1, slots);
      try (ResultSet row = statement.executeQuery()) {
        return Results.queues(row);
      }
    }
  }

  @Override
  public Page pageOfLive(Connection connection, QueueIds numbers, TaskId after, int limit, int scanned)
      throws SQLException {
    try (PreparedStatement statement = statements.prepare(connection, pageOfLive)) {
      statement.setObject(1, uuid(after));
      statement.setInt(2, scanned - 1);
      statement.setObject(3, uuid(after));
      statement.setInt(4, limit + 1);
      return page(connection, numbers, statement, limit);
    }
  }

  @Override
  public Page pageOfQueue(Connection connection, QueueIds numbers, int queue, int state, TaskId after, int limit,
      int scanned) throws SQLException {
    try (PreparedStatement statement = statements.prepare(connection,
        pageOfQueue.with("body", BODY).when("state", state != 0).text())) {
      int at = 1;
      for (int i = 0; i < 2; i++) {
        statement.setObject(at++, uuid(after));
        statement.setInt(at++, scanned - 1);
      }
      for (int i = 0; i < 2; i++) {
        statement.setObject(at++, uuid(after));
        statement.setInt(at++, queue);
        if (state != 0) {
          statement.setInt(at++, state);
        }
      }
      statement.setInt(at, limit + 1);
      return page(connection, numbers, statement, limit);
    }
  }

  private Page page(Connection connection, QueueIds numbers, PreparedStatement statement, int limit)
      throws SQLException {
    List<Row> found = new ArrayList<>();
    TaskId edge = null;
    long now = 0;
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        now = row.getLong(1);
        edge = row.getObject(2) == null ? null : results.id(row, 2);
        if (row.getObject(3) != null) {
          found.add(results.record(connection, numbers, row, 3, true));
        }
      }
    }
    return Results.page(now, found, limit, edge);
  }

  @Override
  public boolean hasLive(Connection connection, int queue) throws SQLException {
    try (PreparedStatement select = statements.batch(connection, hasLive)) {
      select.setInt(1, queue);
      try (ResultSet row = PostgresStatements.rows(select)) {
        if (row.next() && row.getBoolean(1)) {
          return true;
        }
      }
    }
    // The id of a task never changes, so a task that was live before the first page and still is cannot be missed.
    UUID after = uuid(Results.NO_ID);
    try (PreparedStatement select = statements.batch(connection, pageHasLive)) {
      while (after != null) {
        select.setObject(1, after);
        select.setInt(2, HAS_LIVE_PAGE - 1);
        select.setObject(3, after);
        select.setInt(4, queue);
        try (ResultSet row = PostgresStatements.rows(select)) {
          if (!row.next()) {
            throw new SQLException("the page of a table has no result");
          }
          after = row.getObject(1, UUID.class);
          if (row.getBoolean(2)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  @Override
  public Map<RowGroup, Long> tally(Connection connection) throws SQLException {
    try (PreparedStatement select = statements.scan(connection, tally);
        ResultSet row = PostgresStatements.rows(select)) {
      return Results.tally(row);
    }
  }

  @Override
  public int forgetKept(Connection connection, int limit) throws SQLException {
    return forget(connection, forgetKept, limit);
  }

  @Override
  public int forgetAnswers(Connection connection, int limit) throws SQLException {
    return forget(connection, forgetAnswers, limit);
  }

  private int forget(Connection connection, String sql, int limit) throws SQLException {
    try (PreparedStatement delete = statements.prepare(connection, sql)) {
      delete.setInt(1, limit);
      return delete.executeUpdate();
    }
  }
}
