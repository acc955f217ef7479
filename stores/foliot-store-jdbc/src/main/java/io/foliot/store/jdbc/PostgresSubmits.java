package io.foliot.store.jdbc;

import io.foliot.api.Due;
import io.foliot.core.store.Draft;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The {@link SubmitStatements} of PostgreSQL. */
final class PostgresSubmits implements SubmitStatements {
  private final PostgresStatements statements;
  private final Results results;
  private final String insert;
  private final String insertWithRequests;
  private final String insertUnnamed;
  private final String regenerate;
  private final String touch;
  private final String reset;

  PostgresSubmits(PostgresStatements statements, Results results) {
    this.statements = statements;
    this.results = results;
    SqlFiles files = statements.files();
    SqlFiles.Template inserts = files.template("insert", "requests?");
    insert = inserts.when("requests", false).text();
    insertWithRequests = inserts.when("requests", true).text();
    insertUnnamed = files.text("insert_unnamed");
    regenerate = files.text("regenerate");
    SqlFiles.Template touches = files.template("touch", "resets?");
    touch = touches.when("resets", false).text();
    reset = touches.when("resets", true).text();
  }

  @Override
  public Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException {
    int count = tasks.size();
    UuidArray ids = new UuidArray(count);
    int[] queues = new int[count];
    @Nullable
    String[] keys = new String[count];
    int[] slots = new int[count];
    long[] dues = new long[count];
    boolean[] relative = new boolean[count];
    int[] maxAttempts = new int[count];
    byte[][] bodies = new byte[count][];
    @Nullable
    String[] requests = new String[count];
    long[] digests = new long[count];
    boolean anyKey = false;
    boolean anyRequest = false;
    for (int i = 0; i < count; i++) {
      NewTask task = tasks.get(i);
      Draft draft = task.draft();
      ids.set(i, draft.id());
      queues[i] = task.queue();
      keys[i] = draft.key();
      anyKey |= draft.key() != null;
      slots[i] = task.slot();
      dues[i] = Dialect.millis(draft.due());
      relative[i] = draft.due() instanceof Due.After;
      maxAttempts[i] = draft.maxAttempts();
      bodies[i] = Blobs.body(draft.id(), draft.key(), Rows.bodyOf(draft));
      Draft.Idempotency idempotency = draft.idempotency();
      if (idempotency != null) {
        requests[i] = idempotency.key();
        digests[i] = idempotency.digest();
        anyRequest = true;
      }
    }
    if (!anyKey && !anyRequest && connection.getAutoCommit()) {
      try (PreparedStatement statement = statements.prepare(connection, insertUnnamed)) {
        new PostgresArrays(connection, statement).value(seenMicros).value(Row.newVersions()).ids(ids).ints(queues)
            .ints(slots).longs(dues).flags(relative).ints(maxAttempts).blobs(bodies);
        return insertUnnamed(statement, tasks);
      } catch (SQLException e) {
        if (!PostgresStatements.isDuplicateKey(e)) {
          throw e;
        }
        // A live task has one of the ids, because the caller repeats a call. Nothing was inserted; missing tasks are
        // inserted below.
      }
    }
    long versions = Row.newVersions();
    try (PreparedStatement statement = anyRequest
        ? statements.batch(connection, insertWithRequests)
        : statements.prepare(connection, insert)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement).value(seenMicros).value(versions).ids(ids)
          .ints(queues).texts(keys).ints(slots).longs(dues).flags(relative).ints(maxAttempts).blobs(bodies);
      if (anyRequest) {
        arrays.texts(requests).longs(digests);
      }
      return inserted(statement, count, versions);
    }
  }

  private static Inserted inserted(PreparedStatement statement, int count, long versions) throws SQLException {
    Inserted inserted = new Inserted(count);
    try (ResultSet row = PostgresStatements.rows(statement)) {
      while (row.next()) {
        inserted.at(row.getLong(1));
        long place = row.getLong(2) - versions - 1;
        if (place >= 0) {
          inserted.add((int) place, row.getLong(3), row.getLong(4), row.getLong(5));
        }
      }
    }
    return inserted;
  }

  /**
   * Inserts tasks that have neither a key nor a request. Inserts all tasks, or none if a live task has one of the ids.
   * Generations need to grow only among tasks with the same key. These tasks have no keys, so they all get the same
   * generation.
   */
  private static Inserted insertUnnamed(PreparedStatement statement, List<NewTask> tasks) throws SQLException {
    try (ResultSet row = PostgresStatements.rows(statement)) {
      row.next();
      long now = row.getLong(1);
      long generation = row.getLong(2);
      Inserted inserted = new Inserted(tasks.size());
      inserted.at(now);
      for (int i = 0; i < tasks.size(); i++) {
        inserted.add(i, generation, tasks.get(i).draft().due().atMillis(now), 1);
      }
      return inserted;
    }
  }

  @Override
  public BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException {
    UuidArray ids = PostgresStatements.ids(tasks, task -> task.draft().id());
    int[] queues = tasks.stream().mapToInt(NewTask::queue).toArray();
    @Nullable
    String[] keys = new String[tasks.size()];
    @Nullable
    String[] requests = new String[tasks.size()];
    for (int i = 0; i < requests.length; i++) {
      Draft draft = tasks.get(i).draft();
      Draft.Idempotency idempotency = draft.idempotency();
      keys[i] = draft.key();
      requests[i] = idempotency == null ? null : idempotency.key();
    }
    try (PreparedStatement statement = statements.batch(connection, regenerate)) {
      new PostgresArrays(connection, statement).value(generation).ids(ids).longs(generations).ints(queues).texts(keys)
          .texts(requests);
      return PostgresStatements.places(statement);
    }
  }

  @Override
  public Touched touch(Connection connection, List<KeyTouch> touches, boolean resets, long seenMicros)
      throws SQLException {
    int count = touches.size();
    int[] queues = new int[count];
    String[] keys = new String[count];
    long[] dues = new long[count];
    boolean[] relative = new boolean[count];
    @Nullable
    Long[] maxWaits = new Long[count];
    byte[] @Nullable [] bodies = new byte[count][];
    int[] maxAttempts = new int[count];
    for (int i = 0; i < count; i++) {
      KeyTouch item = touches.get(i);
      queues[i] = item.queue();
      keys[i] = item.key();
      dues[i] = Dialect.millis(item.due());
      relative[i] = item.due() instanceof Due.After;
      maxWaits[i] = item.maxWaitMillis() == Long.MAX_VALUE ? null : item.maxWaitMillis();
      bodies[i] = item.body() == null ? null : Blobs.body(item.key(), item.body());
      maxAttempts[i] = item.maxAttempts();
    }
    try (PreparedStatement statement = statements.batch(connection, resets ? reset : touch)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement).value(seenMicros).ints(queues).texts(keys)
          .longs(dues).flags(relative).longsOrNulls(maxWaits);
      if (resets) {
        arrays.blobs(bodies).ints(maxAttempts);
      }
      try (ResultSet row = PostgresStatements.rows(statement)) {
        return results.touched(row, count);
      }
    }
  }
}
