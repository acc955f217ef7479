package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RequestName;
import io.foliot.store.jdbc.Dialect.Unreadable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The {@link RecordStatements} of PostgreSQL. */
final class PostgresRecords implements RecordStatements {
  // bits of an index into readSql
  private static final int BY_ID = 1;
  private static final int BY_KEY = 2;
  private static final int BODIES = 4;

  private final PostgresStatements statements;
  private final Results results;
  /** Statements of {@link #read}, indexed by any combination of {@link #BY_ID}, {@link #BY_KEY}, {@link #BODIES}. */
  private final String[] readSql = new String[BY_ID + BY_KEY + BODIES + 1];
  private final String lockLiveById;
  private final String lockLiveByKey;
  private final String readAnswers;
  private final String update;
  private final String updateWithAnswers;
  private final String rearm;
  private final String end;
  private final String setAside;
  private final String enter;
  private final String forgetAnswers;

  PostgresRecords(PostgresStatements statements, Results results) {
    this.statements = statements;
    this.results = results;
    SqlFiles files = statements.files();
    SqlFiles.Template read = files.template("read", "records");
    for (int bits = 0; bits < readSql.length; bits++) {
      readSql[bits] = read.with("records", records(files, bits)).text();
    }
    lockLiveById = files.text("lock_live_by_id");
    lockLiveByKey = files.text("lock_live_by_key");
    readAnswers = files.text("read_answers");
    SqlFiles.Template updates = files.template("update", "answers?");
    update = updates.when("answers", false).text();
    updateWithAnswers = updates.when("answers", true).text();
    rearm = files.text("rearm");
    end = files.text("end");
    setAside = files.text("set_aside");
    enter = files.text("enter");
    forgetAnswers = files.text("forget_answers_of");
  }

  private static String records(SqlFiles files, int bits) {
    List<String> names = new ArrayList<>();
    if ((bits & BY_ID) != 0) {
      names.addAll(List.of("read_live_by_id", "read_kept_by_id"));
    }
    if ((bits & BY_KEY) != 0) {
      names.addAll(List.of("read_live_by_key", "read_kept_by_key"));
    }
    if (names.isEmpty()) {
      names.add("read_nothing");
    }
    String body = (bits & BODIES) != 0 ? "record.body" : "NULL::bytea";
    return String.join(" UNION ALL ",
        names.stream().map(name -> files.template(name, "body").with("body", body).text()).toList());
  }

  @Override
  public Snapshot read(Connection connection, QueueIds numbers, ReadSet reads, boolean bodies, boolean locking)
      throws SQLException {
    List<KeyName> keys = new ArrayList<>();
    List<Integer> queues = new ArrayList<>();
    for (KeyName key : reads.keys()) {
      int queue = numbers.find(connection, key.queue());
      if (queue != QueueIds.NONE) {
        keys.add(key);
        queues.add(queue);
      }
    }
    UuidArray ids = new UuidArray(reads.ids().size());
    int at = 0;
    for (TaskId id : reads.ids()) {
      ids.set(at++, id);
    }
    int[] queueArray = queues.stream().mapToInt(Integer::intValue).toArray();
    String[] keyArray = keys.stream().map(KeyName::key).toArray(String[]::new);
    boolean byId = !reads.ids().isEmpty();
    boolean byKey = !keys.isEmpty();
    if (locking && byId) {
      lock(connection, lockLiveById, arrays -> arrays.ids(ids));
    }
    if (locking && byKey) {
      lock(connection, lockLiveByKey, arrays -> arrays.ints(queueArray).texts(keyArray));
    }
    int bits = (byId ? BY_ID : 0) | (byKey ? BY_KEY : 0) | (bodies ? BODIES : 0);
    try (PreparedStatement statement = statements.batch(connection, readSql[bits])) {
      PostgresArrays arrays = new PostgresArrays(connection, statement);
      for (int i = 0; byId && i < 2; i++) {
        arrays.ids(ids);
      }
      for (int i = 0; byKey && i < 2; i++) {
        arrays.ints(queueArray).texts(keyArray);
      }
      List<Row> found = new ArrayList<>();
      long now = 0;
      long floor = 0;
      try (ResultSet row = PostgresStatements.rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          floor = row.getLong(2);
          if (row.getObject(3) != null) {
            found.add(results.record(connection, numbers, row, 3, bodies));
          }
        }
      }
      return new Snapshot(now, floor, found, answers(connection, numbers, reads));
    }
  }

  /** A binding of parameters. */
  private interface Binding {
    PostgresArrays bind(PostgresArrays arrays) throws SQLException;
  }

  private void lock(Connection connection, String sql, Binding parameters) throws SQLException {
    try (PreparedStatement select = statements.batch(connection, sql)) {
      PostgresArrays bound = parameters.bind(new PostgresArrays(connection, select));
      assert bound != null;
      PostgresStatements.rows(select).close();
    }
  }

  private Map<RequestName, RecordTable.Answered> answers(Connection connection, QueueIds numbers, ReadSet reads)
      throws SQLException {
    if (reads.requests().isEmpty()) {
      return Map.of();
    }
    List<RequestName> names = List.copyOf(reads.requests());
    int[] queues = new int[names.size()];
    for (int i = 0; i < queues.length; i++) {
      queues[i] = numbers.find(connection, names.get(i).queue());
    }
    try (PreparedStatement select = statements.batch(connection, readAnswers)) {
      bind(new PostgresArrays(connection, select), queues, names);
      try (ResultSet row = PostgresStatements.rows(select)) {
        return results.answers(row, names);
      }
    }
  }

  private static void bind(PostgresArrays arrays, int[] queues, List<RequestName> names) throws SQLException {
    arrays.ints(queues).texts(names.stream().map(RequestName::keyOrEmpty).toArray(String[]::new))
        .texts(names.stream().map(RequestName::request).toArray(String[]::new));
  }

  @Override
  public BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException {
    try (PreparedStatement statement = statements.batch(connection, answers.isEmpty() ? update : updateWithAnswers)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement);
      bindLive(arrays, changes);
      if (!answers.isEmpty()) {
        bind(arrays, answers);
      }
      return PostgresStatements.places(statement);
    }
  }

  private static void bindLive(PostgresArrays arrays, List<Change> changes) throws SQLException {
    PostgresColumns columns = new PostgresColumns(changes);
    arrays.longs(columns.wakeAt).longs(columns.dueAt).longs(columns.firstDueAt).longs(columns.changedAt)
        .longs(columns.generation).longs(columns.leaseEnd).longs(columns.claimedAt).ints(columns.part)
        .ints(columns.attempt).ints(columns.maxAttempts).ints(columns.state).ints(columns.settledAs)
        .flags(columns.cancelRequested).flags(columns.outstanding).ids(columns.token).blobs(columns.successor)
        .blobs(columns.attempts).blobs(columns.body).ids(columns.id).longs(columns.version);
  }

  @Override
  public BitSet rearm(Connection connection, List<Change> changes, List<Child> children) throws SQLException {
    List<Change> inserted = children.stream().map(Child::change).toList();
    try (PreparedStatement statement = statements.batch(connection, rearm)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement);
      bindLive(arrays, changes);
      PostgresColumns columns = new PostgresColumns(inserted);
      // The wakeAt of a new task is its due time, so the statement has no parameter for wakeAt.
      arrays.value(Row.newVersions()).longs(columns.dueAt).longs(columns.changedAt).longs(columns.generation)
          .ints(inserted.stream().mapToInt(Change::queue).toArray()).ints(columns.part).ints(columns.maxAttempts)
          .ids(columns.id).blobs(columns.body)
          .ints(children.stream().mapToInt(child -> child.parent() + 1).toArray());
      return PostgresStatements.places(statement);
    }
  }

  private static void bind(PostgresArrays arrays, List<NewAnswer> answers) throws SQLException {
    int count = answers.size();
    int[] queues = new int[count];
    long[] digests = new long[count];
    int[] kinds = new int[count];
    UuidArray ids = new UuidArray(count);
    long[] generations = new long[count];
    long[] dueAts = new long[count];
    int[] states = new int[count];
    long[] dropAts = new long[count];
    int[] changes = new int[count];
    for (int i = 0; i < count; i++) {
      NewAnswer answer = answers.get(i);
      SubmitResult result = answer.answered().result();
      queues[i] = answer.queue();
      digests[i] = answer.answered().digest();
      kinds[i] = ColumnCodes.of(result.kind());
      ids.set(i, result.id());
      generations[i] = result.generation();
      dueAts[i] = result.dueAt();
      states[i] = ColumnCodes.ofAnswer(result.state());
      dropAts[i] = answer.answered().dropAt();
      changes[i] = answer.change() + 1;
    }
    bind(arrays, queues, answers.stream().map(NewAnswer::name).toList());
    arrays.longs(digests).ints(kinds).ids(ids).longs(generations).longs(dueAts).ints(states).longs(dropAts)
        .ints(changes);
  }

  @Override
  public BitSet end(Connection connection, List<Change> changes) throws SQLException {
    try (PreparedStatement statement = statements.batch(connection, end)) {
      PostgresColumns columns = new PostgresColumns(changes);
      long[] dropAts = changes.stream().mapToLong(change -> change.after().dropAt()).toArray();
      String[] reasons = changes.stream().map(change -> PostgresStatements.plain(change.after().reason()))
          .toArray(String[]::new);
      new PostgresArrays(connection, statement).longs(columns.dueAt).longs(columns.firstDueAt)
          .longs(columns.changedAt).longs(columns.generation).longs(dropAts).longs(columns.leaseEnd)
          .longs(columns.claimedAt).ints(columns.attempt).ints(columns.maxAttempts).ints(columns.state)
          .ints(columns.settledAs).flags(columns.outstanding).ids(columns.token).texts(reasons)
          .blobs(columns.attempts).blobs(columns.body).ids(columns.id).longs(columns.version);
      return PostgresStatements.places(statement);
    }
  }

  @Override
  public BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException {
    UuidArray ids = PostgresStatements.ids(rows, Unreadable::id);
    try (PreparedStatement statement = statements.batch(connection, setAside)) {
      new PostgresArrays(connection, statement).ids(ids).longs(rows.stream().mapToLong(Unreadable::version).toArray())
          .texts(rows.stream().map(row -> PostgresStatements.plain(row.reason())).toArray(String[]::new))
          .longs(rows.stream().mapToLong(Unreadable::keptMillis).toArray());
      return PostgresStatements.places(statement);
    }
  }

  @Override
  public BitSet enter(Connection connection, List<Change> changes) throws SQLException {
    try (PreparedStatement statement = statements.batch(connection, enter)) {
      PostgresColumns columns = new PostgresColumns(changes);
      long[] createdAts = changes.stream().mapToLong(change -> change.after().createdAt()).toArray();
      int[] queues = changes.stream().mapToInt(Change::queue).toArray();
      @Nullable
      String[] keys = changes.stream().map(change -> change.after().key()).toArray(String[]::new);
      long[] oldGenerations = changes.stream()
          .mapToLong(change -> change.before() == null ? 0 : change.before().generation()).toArray();
      long versions = Row.newVersions();
      new PostgresArrays(connection, statement).value(versions).longs(columns.wakeAt).longs(columns.dueAt)
          .longs(columns.firstDueAt).longs(createdAts).longs(columns.changedAt).longs(columns.generation)
          .longs(columns.leaseEnd)
          .longs(columns.claimedAt).ints(queues).ints(columns.part).ints(columns.attempt).ints(columns.maxAttempts)
          .ints(columns.state).ints(columns.settledAs).flags(columns.cancelRequested).flags(columns.outstanding)
          .ids(columns.id).ids(columns.token).texts(keys).blobs(columns.body).blobs(columns.successor)
          .blobs(columns.attempts).longs(oldGenerations).value(versions);
      return PostgresStatements.places(statement);
    }
  }

  @Override
  public void forgetAnswers(Connection connection, List<RequestName> names, QueueIds numbers) throws SQLException {
    try (PreparedStatement delete = statements.prepare(connection, forgetAnswers)) {
      bind(new PostgresArrays(connection, delete),
          names.stream().mapToInt(name -> numbers.of(name.queue())).toArray(), names);
      delete.executeUpdate();
    }
  }
}
