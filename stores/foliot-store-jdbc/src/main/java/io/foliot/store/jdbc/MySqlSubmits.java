package io.foliot.store.jdbc;

import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.Draft;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.batch.RequestName;
import io.foliot.store.jdbc.MySqlStatements.NewBody;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/** The {@link SubmitStatements} of MariaDB and MySQL. */
final class MySqlSubmits implements SubmitStatements {
  /**
   * Largest number of tasks that are inserted as rows in the statement's text. For more, a parameter table is faster.
   */
  private static final int FEW = 64;

  private final MySqlStatements statements;
  private final Results results;
  private final SqlFiles.Template insert;
  private final SqlFiles.Template insertUnnamed;
  private final SqlFiles.Template insertUnnamedRow;
  private final SqlFiles.Template inserted;
  private final SqlFiles.Template regenerate;
  private final SqlFiles.Template regenerateAnswers;
  private final SqlFiles.Template touch;
  private final SqlFiles.Template touched;

  MySqlSubmits(MySqlStatements statements, Results results) {
    this.statements = statements;
    this.results = results;
    SqlFiles files = statements.files();
    insert = files.template("insert", "wanted", "seen_micros", "versions", "body", "requests?", "returning?");
    insertUnnamed = files.template("insert_unnamed", "rows");
    insertUnnamedRow = files.template("insert_unnamed_row", "queue", "slot_number", "due", "at?", "at_once?", "after?",
        "seen_micros", "max_attempts", "version");
    inserted = files.template("inserted", "ids");
    regenerate = files.template("regenerate", "wanted", "generation", "versions");
    regenerateAnswers = files.template("regenerate_answers", "wanted", "generation");
    touch = files.template("touch", "wanted", "seen_micros", "versions", "resets?");
    touched = files.template("touched", "wanted", "versions");
  }

  @Override
  public Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException {
    boolean requests = tasks.stream().anyMatch(task -> task.draft().idempotency() != null);
    boolean keys = tasks.stream().anyMatch(task -> task.draft().key() != null);
    if (statements.isMariaDb() && !requests && !keys && tasks.size() <= FEW && connection.getAutoCommit()) {
      try {
        return insertUnnamed(connection, tasks, seenMicros);
      } catch (SQLException e) {
        if (!MySqlStatements.isDuplicateKey(e)) {
          throw e;
        }
        // A live task has one of the ids, because the caller repeats a call. Nothing was inserted; missing tasks are
        // inserted below.
      }
    }
    if (statements.isMariaDb() && !requests) {
      return insertReturning(connection, tasks, seenMicros, false);
    }
    return MySqlStatements.together(connection, transaction -> {
      Inserted inserted = statements.isMariaDb()
          ? insertReturning(transaction, tasks, seenMicros, requests)
          : insertAndRead(transaction, tasks, seenMicros, requests);
      if (requests) {
        rememberNew(transaction, tasks, inserted);
      }
      return inserted;
    });
  }

  private ParameterTable newTasks(List<NewTask> tasks, boolean requests) {
    List<String> columns = new ArrayList<>(
        List.of("id", "queue", "task_key", "slot", "due", "relative", "max_attempts", "body"));
    if (requests) {
      columns.add("request");
    }
    ParameterTable values = statements.values(columns.toArray(String[]::new));
    for (NewTask task : tasks) {
      Draft draft = task.draft();
      Draft.Idempotency idempotency = draft.idempotency();
      values.next().add(draft.id()).add(task.queue()).add(draft.key()).add(task.slot())
          .add(Dialect.millis(draft.due())).add(draft.due() instanceof Due.After).add(draft.maxAttempts())
          .add(Blobs.body(draft.id(), draft.key(), Rows.bodyOf(draft)));
      if (requests) {
        values.add(idempotency == null ? null : idempotency.key());
      }
    }
    return values;
  }

  private String insert(ParameterTable values, long seenMicros, long versions, boolean requests, boolean returning) {
    return insert.with("wanted", values.with()).with("seen_micros", seenMicros).with("versions", versions)
        .with("body", values.column("body")).when("requests", requests).when("returning", returning).text();
  }

  /** Inserts tasks, and reads the results by a second statement, because MySQL has no RETURNING. */
  private Inserted insertAndRead(Connection connection, List<NewTask> tasks, long seenMicros, boolean requests)
      throws SQLException {
    long versions = Row.newVersions();
    ParameterTable values = newTasks(tasks, requests);
    statements.execute(connection, insert(values, seenMicros, versions, requests, false), values);
    return inserted(connection, tasks, versions);
  }

  private Inserted insertReturning(Connection connection, List<NewTask> tasks, long seenMicros, boolean requests)
      throws SQLException {
    long versions = Row.newVersions();
    ParameterTable values = newTasks(tasks, requests);
    try (PreparedStatement statement = statements.prepare(connection,
        insert(values, seenMicros, versions, requests, true))) {
      values.bind(statement, 1);
      return inserted(statement, tasks.size(), versions);
    }
  }

  /**
   * Inserts tasks that have no key and no request, as rows in the statement's text. Inserts all tasks, or none if a
   * live task has one of the ids.
   */
  private Inserted insertUnnamed(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException {
    long versions = Row.newVersions();
    StringBuilder rows = new StringBuilder();
    for (int i = 0; i < tasks.size(); i++) {
      NewTask task = tasks.get(i);
      Due due = task.draft().due();
      boolean atOnce = due instanceof Due.After after && after.delayMillis() == 0;
      rows.append(i == 0 ? "" : ", ")
          .append(insertUnnamedRow.with("queue", task.queue()).with("slot_number", task.slot())
              .with("due", Dialect.millis(due)).when("at", due instanceof Due.At).when("at_once", atOnce)
              .when("after", due instanceof Due.After && !atOnce).with("seen_micros", seenMicros)
              .with("max_attempts", task.draft().maxAttempts()).with("version", versions + i + 1).text());
    }
    try (PreparedStatement statement = statements.prepare(connection, insertUnnamed.with("rows", rows).text())) {
      int at = 1;
      for (NewTask task : tasks) {
        Draft draft = task.draft();
        statement.setBytes(at++, ParameterTable.bytes(draft.id()));
        statement.setBytes(at++, Blobs.body(draft.id(), draft.key(), Rows.bodyOf(draft)));
      }
      return inserted(statement, tasks.size(), versions);
    }
  }

  private Inserted inserted(Connection connection, List<NewTask> tasks, long versions) throws SQLException {
    try (PreparedStatement select = statements.prepare(connection,
        inserted.with("ids", MySqlStatements.list(tasks.size())).text())) {
      int next = MySqlStatements.bind(select, 1, tasks.stream().map(task -> task.draft().id()).toList());
      assert next == tasks.size() + 1 : next;
      return inserted(select, tasks.size(), versions);
    }
  }

  private static Inserted inserted(PreparedStatement statement, int count, long versions) throws SQLException {
    Inserted inserted = new Inserted(count);
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        long place = row.getLong(1) - versions - 1;
        if (place >= 0 && place < count) {
          inserted.at(1_000 * row.getLong(4));
          inserted.add((int) place, row.getLong(2), row.getLong(3), row.getLong(5));
        }
      }
    }
    return inserted;
  }

  private void rememberNew(Connection connection, List<NewTask> tasks, Inserted inserted) throws SQLException {
    long nowMillis = Math.floorDiv(inserted.micros(), 1_000);
    List<NewAnswer> answers = new ArrayList<>();
    for (int i = 0; i < tasks.size(); i++) {
      Draft draft = tasks.get(i).draft();
      Draft.Idempotency idempotency = draft.idempotency();
      if (idempotency != null && inserted.generation(i) > 0) {
        long dueAt = inserted.dueAt(i);
        SubmitResult result = new SubmitResult(SubmitResult.Kind.CREATED, draft.id(), inserted.generation(i), dueAt,
            dueAt <= nowMillis ? TaskState.READY : TaskState.DELAYED, true);
        answers.add(new NewAnswer(new RequestName(draft.queue(), draft.key(), idempotency.key()),
            tasks.get(i).queue(), new RecordTable.Answered(idempotency.digest(), result,
                nowMillis + Draft.Idempotency.KEPT_MILLIS),
            -1));
      }
    }
    statements.remember(connection, answers, new BitSet());
  }

  @Override
  public BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      long versions = Row.newVersions();
      List<TaskId> ids = new ArrayList<>();
      ParameterTable values = statements.values("id", "generation");
      for (int i = 0; i < tasks.size(); i++) {
        ids.add(tasks.get(i).draft().id());
        values.next().add(ids.get(i)).add(generations[i]);
      }
      int rows = statements.execute(transaction, regenerate.with("wanted", values.with())
          .with("generation", generation).with("versions", versions).text(), values);
      BitSet written = rows == ids.size()
          ? MySqlStatements.all(rows)
          : statements.written(transaction, ids, versions);
      regenerateAnswers(transaction, written.stream().mapToObj(tasks::get).toList(), generation);
      return written;
    });
  }

  private void regenerateAnswers(Connection connection, List<NewTask> tasks, long generation) throws SQLException {
    ParameterTable values = statements.values("id", "queue", "task_key", "request");
    for (NewTask task : tasks) {
      Draft draft = task.draft();
      Draft.Idempotency idempotency = draft.idempotency();
      if (idempotency != null) {
        values.next().add(draft.id()).add(task.queue()).add(draft.key()).add(idempotency.key());
      }
    }
    if (values.rows() > 0) {
      int rows = statements.execute(connection, regenerateAnswers.with("wanted", values.with())
          .with("generation", generation).text(), values);
      assert rows <= values.rows() : rows;
    }
  }

  @Override
  public Touched touch(Connection connection, List<KeyTouch> touches, boolean resets, long seenMicros)
      throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      long versions = Row.newVersions();
      ParameterTable values = resets
          ? statements.values("queue", "task_key", "due", "relative", "max_wait", "max_attempts")
          : statements.values("queue", "task_key", "due", "relative", "max_wait");
      ParameterTable keys = statements.values("queue", "task_key");
      for (KeyTouch item : touches) {
        // The server adds the maximum wait to a time. The sum must fit into 64 bits.
        values.next().add(item.queue()).add(item.key()).add(Dialect.millis(item.due()))
            .add(item.due() instanceof Due.After).add(Math.min(item.maxWaitMillis(), Long.MAX_VALUE / 2));
        if (resets) {
          values.add(item.maxAttempts());
        }
        keys.next().add(item.queue()).add(item.key());
      }
      int rows = statements.execute(transaction, touch.with("wanted", values.with()).with("seen_micros", seenMicros)
          .with("versions", versions).when("resets", resets).text(), values);
      assert rows <= touches.size() : rows;
      Touched touched = touched(transaction, keys, touches.size(), versions);
      List<NewBody> bodies = new ArrayList<>();
      for (int i = 0; i < touches.size(); i++) {
        TouchResult result = touched.results().get(i);
        KeyTouch item = touches.get(i);
        if (result != null && item.body() != null) {
          bodies.add(new NewBody(Objects.requireNonNull(result.id()), Blobs.body(item.key(), item.body())));
        }
      }
      statements.writeBodies(transaction, bodies);
      return touched;
    });
  }

  private Touched touched(Connection connection, ParameterTable keys, int count, long versions) throws SQLException {
    try (PreparedStatement select = statements.prepare(connection,
        touched.with("wanted", keys.with()).with("versions", versions).text())) {
      keys.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        return results.touched(row, count);
      }
    }
  }
}
