package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RequestName;
import io.foliot.store.jdbc.Dialect.Unreadable;
import io.foliot.store.jdbc.MySqlStatements.NewBody;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The {@link RecordStatements} of MariaDB and MySQL. */
final class MySqlRecords implements RecordStatements {
  private static final String BODY = "record.body";
  private static final String NO_BODY = "'' AS body";

  /** The columns that every change of a live record writes. */
  private static final List<String> LIVE_COLUMNS = List.of("wake_at", "due_at", "first_due_at", "changed_at",
      "generation", "lease_end", "claimed_at", "part", "attempt", "max_attempts", "state", "settled_as",
      "cancel_requested", "outstanding", "token", "successor", "attempts");

  private final MySqlStatements statements;
  private final Results results;
  private final StoreClock clock;
  private final SqlFiles.Template read;
  private final SqlFiles.Template readLiveById;
  private final SqlFiles.Template readKeptById;
  private final SqlFiles.Template readLiveByKey;
  private final SqlFiles.Template readKeptByKey;
  private final String readNothing;
  private final SqlFiles.Template readAnswers;
  private final SqlFiles.Template update;
  private final SqlFiles.Template end;
  private final SqlFiles.Template setAside;
  private final SqlFiles.Template enter;
  private final SqlFiles.Template dropKept;
  private final SqlFiles.Template forgetAnswers;

  MySqlRecords(MySqlStatements statements, Results results, StoreClock clock) {
    this.statements = statements;
    this.results = results;
    this.clock = clock;
    SqlFiles files = statements.files();
    read = files.template("read", "records");
    readLiveById = files.template("read_live_by_id", "wanted", "body", "locking?");
    readKeptById = files.template("read_kept_by_id", "wanted", "body");
    readLiveByKey = files.template("read_live_by_key", "wanted", "body", "locking?");
    readKeptByKey = files.template("read_kept_by_key", "wanted", "body");
    readNothing = files.template("read_nothing", "body").with("body", NO_BODY).text();
    readAnswers = files.template("read_answers", "wanted", "locking?");
    update = files.template("update", "wanted", "successor", "attempts", "versions");
    end = files.template("end", "wanted", "body");
    setAside = files.template("set_aside", "wanted");
    enter = files.template("enter", "wanted", "successor", "attempts", "versions", "body");
    dropKept = files.template("drop_kept", "ids");
    forgetAnswers = files.template("forget_answers_of", "wanted");
  }

  @Override
  public Snapshot read(Connection connection, QueueIds numbers, ReadSet reads, boolean bodies, boolean locking)
      throws SQLException {
    ParameterTable keys = statements.values("queue", "task_key");
    for (KeyName key : reads.keys()) {
      int queue = numbers.find(connection, key.queue());
      if (queue != QueueIds.NONE) {
        keys.next().add(queue).add(key.key());
      }
    }
    ParameterTable ids = statements.values("id");
    reads.ids().forEach(id -> ids.next().add(id));
    List<Part> parts = new ArrayList<>();
    if (ids.rows() > 0) {
      parts.add(new Part(part(readLiveById, ids, bodies).when("locking", locking).text(), ids));
      parts.add(new Part(part(readKeptById, ids, bodies).text(), ids));
    }
    if (keys.rows() > 0) {
      parts.add(new Part(part(readLiveByKey, keys, bodies).when("locking", locking).text(), keys));
      parts.add(new Part(part(readKeptByKey, keys, bodies).text(), keys));
    }
    return locking
        ? readLocking(connection, numbers, reads, parts, bodies)
        : readAtOnce(connection, numbers, reads, parts, bodies);
  }

  private static SqlFiles.Call part(SqlFiles.Template template, ParameterTable values, boolean bodies) {
    return template.with("wanted", values.with()).with("body", bodies ? BODY : NO_BODY);
  }

  /** A statement that reads some of the records, and its parameters. */
  private record Part(String sql, ParameterTable values) {}

  private Snapshot readAtOnce(Connection connection, QueueIds numbers, ReadSet reads, List<Part> parts, boolean bodies)
      throws SQLException {
    List<Row> found = new ArrayList<>();
    String records = parts.isEmpty()
        ? readNothing
        : parts.stream().map(Part::sql).collect(Collectors.joining(" UNION ALL "));
    long nowMicros = 0;
    long floor = 0;
    try (PreparedStatement select = statements.prepare(connection, read.with("records", records).text())) {
      int at = 1;
      for (Part part : parts) {
        at = part.values().bind(select, at);
      }
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          nowMicros = row.getLong(1);
          floor = row.getLong(2);
          if (row.getBoolean(3)) {
            found.add(results.record(connection, numbers, row, 4, bodies));
          }
        }
      }
    }
    return new Snapshot(nowMicros, floor, found, answers(connection, numbers, reads, false));
  }

  /**
   * Reads with locks on the live rows and on the answers. Under the isolation level REPEATABLE READ, only a locking
   * read returns rows that other transactions have committed since the first read of this transaction. This transaction
   * writes most of the rows later, so it needs their locks in any case.
   */
  private Snapshot readLocking(Connection connection, QueueIds numbers, ReadSet reads, List<Part> parts, boolean bodies)
      throws SQLException {
    long nowMicros = clock.micros(connection);
    List<Row> found = new ArrayList<>();
    for (Part part : parts) {
      try (PreparedStatement select = statements.prepare(connection, part.sql())) {
        part.values().bind(select, 1);
        try (ResultSet row = select.executeQuery()) {
          while (row.next()) {
            found.add(results.record(connection, numbers, row, 1, bodies));
          }
        }
      }
    }
    return new Snapshot(nowMicros, clock.floor(connection), found, answers(connection, numbers, reads, true));
  }

  private Map<RequestName, RecordTable.Answered> answers(Connection connection, QueueIds numbers, ReadSet reads,
      boolean locking) throws SQLException {
    if (reads.requests().isEmpty()) {
      return Map.of();
    }
    List<RequestName> names = List.copyOf(reads.requests());
    ParameterTable values = requests(connection, names, numbers);
    try (PreparedStatement select = statements.prepare(connection,
        readAnswers.with("wanted", values.with()).when("locking", locking).text())) {
      values.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        return results.answers(row, names);
      }
    }
  }

  private ParameterTable requests(Connection connection, List<RequestName> names, QueueIds numbers)
      throws SQLException {
    ParameterTable values = statements.values("queue", "task_key", "request");
    for (RequestName name : names) {
      values.next().add(numbers.find(connection, name.queue())).add(name.keyOrEmpty()).add(name.request());
    }
    return values;
  }

  @Override
  public BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      BitSet written = changes.isEmpty() ? new BitSet() : update(transaction, changes);
      statements.remember(transaction, answers, written);
      return written;
    });
  }

  @Override
  public BitSet rearm(Connection connection, List<Change> changes, List<Child> children) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      BitSet written = update(transaction, changes);
      List<Change> inserted = children.stream().filter(child -> written.get(child.parent())).map(Child::change)
          .toList();
      if (!inserted.isEmpty()) {
        BitSet entered = enter(transaction, inserted);
        assert entered.cardinality() <= inserted.size() : entered;
      }
      return written;
    });
  }

  private static void addLive(ParameterTable values, Change change) {
    TaskRecord record = change.after();
    values.add(record.wakeAt()).add(record.dueAt()).add(record.firstDueAt()).add(record.changedAt())
        .add(record.generation()).add(record.leaseEnd()).add(record.claimedAt()).add(change.part())
        .add(record.attempt()).add(record.maxAttempts()).add(ColumnCodes.of(record.state())).add(change.settledAs())
        .add(record.cancelRequested()).add(record.outstanding()).add(record.token())
        .add(Blobs.successor(record.id(), record.successor())).add(Blobs.history(record));
  }

  private ParameterTable withLive(String... others) {
    List<String> columns = new ArrayList<>(LIVE_COLUMNS);
    columns.addAll(Arrays.asList(others));
    return statements.values(columns.toArray(String[]::new));
  }

  private static List<TaskId> ids(List<Change> changes) {
    return changes.stream().map(change -> change.after().id()).toList();
  }

  private BitSet update(Connection connection, List<Change> changes) throws SQLException {
    long versions = Row.newVersions();
    ParameterTable values = withLive("id", "version");
    for (Change change : changes) {
      addLive(values.next(), change);
      values.add(change.after().id()).add(change.version());
    }
    int rows = statements.execute(connection,
        update.with("wanted", values.with()).with("successor", values.column("successor"))
            .with("attempts", values.column("attempts")).with("versions", versions).text(),
        values);
    BitSet written = rows == changes.size()
        ? MySqlStatements.all(rows)
        : statements.written(connection, ids(changes), versions);
    List<NewBody> bodies = new ArrayList<>();
    written.stream().mapToObj(changes::get).forEach(change -> {
      byte[] body = change.newBody();
      if (body != null) {
        bodies.add(new NewBody(change.after().id(), body));
      }
    });
    statements.writeBodies(connection, bodies);
    return written;
  }

  @Override
  public BitSet end(Connection connection, List<Change> changes) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      ParameterTable versions = statements.values("id", "version");
      changes.forEach(change -> versions.next().add(change.after().id()).add(change.version()));
      BitSet same = statements.rowsOfVersion(transaction, versions, true);
      ParameterTable values = withLive("reason", "drop_at", "body", "id");
      same.stream().mapToObj(changes::get).forEach(change -> {
        addLive(values.next(), change);
        values.add(change.after().reason()).add(change.after().dropAt()).add(change.newBody())
            .add(change.after().id());
      });
      if (values.rows() > 0) {
        int rows = statements.execute(transaction,
            end.with("wanted", values.with()).with("body", values.column("body")).text(), values);
        assert rows == values.rows() : rows;
        statements.dropLive(transaction, same.stream().mapToObj(i -> changes.get(i).after().id()).toList());
      }
      return same;
    });
  }

  @Override
  public BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      ParameterTable versions = statements.values("id", "version");
      rows.forEach(row -> versions.next().add(row.id()).add(row.version()));
      BitSet same = statements.rowsOfVersion(transaction, versions, true);
      if (!same.isEmpty()) {
        ParameterTable values = statements.values("id", "reason", "kept");
        same.stream().mapToObj(rows::get)
            .forEach(row -> values.next().add(row.id()).add(row.reason()).add(row.keptMillis()));
        int kept = statements.execute(transaction, setAside.with("wanted", values.with()).text(), values);
        assert kept == values.rows() : kept;
        statements.dropLive(transaction, same.stream().mapToObj(i -> rows.get(i).id()).toList());
      }
      return same;
    });
  }

  @Override
  public BitSet enter(Connection connection, List<Change> changes) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      long versions = Row.newVersions();
      ParameterTable values = withLive("body", "id", "queue", "task_key", "created_at", "was");
      for (Change change : changes) {
        TaskRecord before = change.before();
        addLive(values.next(), change);
        values.add(change.newBody()).add(change.after().id()).add(change.queue()).add(change.after().key())
            .add(change.after().createdAt()).add(before == null ? 0 : before.generation());
      }
      statements.execute(transaction,
          enter.with("wanted", values.with()).with("successor", values.column("successor"))
              .with("attempts", values.column("attempts")).with("versions", versions)
              .with("body", values.column("body")).text(),
          values);
      List<TaskId> ids = ids(changes);
      BitSet written = statements.written(transaction, ids, versions);
      if (!written.isEmpty()) {
        dropKept(transaction, written.stream().mapToObj(ids::get).toList());
      }
      return written;
    });
  }

  private void dropKept(Connection connection, List<TaskId> ids) throws SQLException {
    try (PreparedStatement delete = statements.prepare(connection,
        dropKept.with("ids", MySqlStatements.list(ids.size())).text())) {
      int next = MySqlStatements.bind(delete, 1, ids);
      assert next == ids.size() + 1 : next;
      int rows = delete.executeUpdate();
      assert rows <= ids.size() : rows;
    }
  }

  @Override
  public void forgetAnswers(Connection connection, List<RequestName> names, QueueIds numbers) throws SQLException {
    ParameterTable values = requests(connection, names, numbers);
    int rows = statements.execute(connection, forgetAnswers.with("wanted", values.with()).text(), values);
    assert rows <= names.size() : rows;
  }
}
