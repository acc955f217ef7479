package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Due;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.Probed;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TouchResult;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * MariaDB 10.6 and newer, MySQL 8.0.19 and newer. A batch is a table of parameters within the statement.
 *
 * <p>An UPDATE does not answer which rows it changed. So each row that is written gets a version that was never used, and
 * is asked for it afterwards: a claim, which has a token of its own, by another statement; what is not as unmistakable,
 * within one short transaction.
 *
 * <p>No NULL is ever read. What JDK 25 makes of the way in which MariaDB's driver decodes one ends the JVM now and then: D47.
 */
final class MySqlDialect implements Dialect {
  /** The beginning of the statement, in UTC: the time zone of a session, and its summer time, have no part in it. */
  private static final String CLOCK = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
  /** The same, read when the expression is evaluated. */
  private static final String ROW_CLOCK = "(" + CLOCK + " + TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)))";

  private static final String INSERT_COLUMNS = "id, queue, `key`, part, wake_at, due_at, first_due_at, created_at,"
      + " changed_at, state, generation, attempt, max_attempts, cancel_requested, outstanding, version, body";
  private static final String REQUEST_COLUMNS = "queue, `key`, request, digest, kind, id, generation, due_at, state,"
      + " drop_at";
  private static final String FINAL_COLUMNS = "id, queue, `key`, state, due_at, first_due_at, created_at, changed_at,"
      + " lease_end, claimed_at, generation, attempt, max_attempts, token, settled_as, outstanding, attempts, reason,"
      + " drop_at, begun_at, detail, body";

  // The columns of Rows, where what is NULL in the table is nothing, 0 or NO_END.
  private static final String LIVE = "t.id, t.queue, COALESCE(t.`key`, ''), t.state, t.part, t.wake_at, t.due_at,"
      + " t.first_due_at, t.created_at, t.changed_at, COALESCE(t.lease_end, 0), COALESCE(t.claimed_at, 0),"
      + " t.generation, t.attempt, t.max_attempts, COALESCE(t.token, ''), COALESCE(t.settled_as, -1),"
      + " t.cancel_requested, t.outstanding, t.version, COALESCE(t.successor, ''), COALESCE(t.attempts, ''), ";
  private static final String LIVE_END = ", '' AS reason, 0 AS drop_at, 0 AS begun_at, '' AS detail";
  private static final String KEPT = "t.id, t.queue, COALESCE(t.`key`, ''), t.state, 0, 0, t.due_at, t.first_due_at,"
      + " t.created_at, t.changed_at, COALESCE(t.lease_end, 0), COALESCE(t.claimed_at, 0), t.generation, t.attempt,"
      + " t.max_attempts, COALESCE(t.token, ''), COALESCE(t.settled_as, -1), 0, t.outstanding, 0, '',"
      + " COALESCE(t.attempts, ''), ";
  private static final String KEPT_END = ", t.reason, t.drop_at, COALESCE(t.begun_at, 0), COALESCE(t.detail, '')";

  /** Leaves alone what a newer version wrote: {@link Blobs} begins with its version. */
  private static final String KNOWN_VERSION = " AND LEFT(body, 1) <= X'01'"
      + " AND (attempts IS NULL OR LEFT(attempts, 1) <= X'01')";

  /** The last 16 bits of an id, from which its slot follows. */
  private static final String SLOT_HASH = "CONV(HEX(RIGHT(id, 2)), 16, 10)";

  /** Longer lists of scans are looked through for slots that have something. */
  private static final int SCANS_AT_ONCE = 4;

  /** So many rows are told apart by the parser sooner than the table of parameters is made and read. */
  private static final int FEW = 64;

  private static final int DUPLICATE = 1062;
  private static final Set<Integer> READ_ONLY = Set.of(1290, 1792, 1836);
  private static final Set<Integer> FULL = Set.of(1114, 1021);
  /** Deadlock, lock wait timeout: the transaction is over and may be repeated. */
  private static final Set<Integer> ROLLED_BACK = Set.of(1213, 1205);

  private final int timeoutSeconds;
  private final boolean isMariaDb;
  private final String clock;
  private final String rowClock;
  private final String rowWord;
  private final MySqlRows rows = new MySqlRows();
  /** The clock of a statement in microseconds, in milliseconds rounded down (now) and up (for delays), and the floor. */
  private final String now;

  MySqlDialect(int timeoutSeconds, boolean isMariaDb) {
    this(timeoutSeconds, isMariaDb, CLOCK, ROW_CLOCK);
  }

  /**
   * With another clock.
   *
   * @param timeoutSeconds how long a statement may take
   * @param isMariaDb else it is MySQL
   * @param clock an SQL expression: microseconds since 1970
   * @param rowClock the same, evaluated anew for each row
   */
  MySqlDialect(int timeoutSeconds, boolean isMariaDb, String clock, String rowClock) {
    this.timeoutSeconds = timeoutSeconds;
    this.isMariaDb = isMariaDb;
    this.clock = clock;
    this.rowClock = rowClock;
    rowWord = isMariaDb ? "" : "ROW";
    now = "(SELECT c.micros, c.micros DIV 1000 AS ms, (c.micros + 999) DIV 1000 AS up, (SELECT floor FROM foliot_clock)"
        + " AS floor FROM (SELECT " + clock + " AS micros) c)";
  }

  @Override
  public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setQueryTimeout(timeoutSeconds);
    return statement;
  }

  @Override
  public String kind() {
    return isMariaDb ? "mariadb" : "mysql";
  }

  @Override
  public String migrations() {
    return "classpath:io/foliot/store/jdbc/mysql";
  }

  @Override
  public Durability durability(Connection connection) throws SQLException {
    try (PreparedStatement select = prepare(connection,
        "SELECT @@version, @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite");
        ResultSet row = select.executeQuery()) {
      row.next();
      int flush = row.getInt(2);
      String detail = (isMariaDb ? "MariaDB " : "MySQL ") + row.getString(1) + ", innodb_flush_log_at_trx_commit="
          + flush + ", innodb_doublewrite=" + row.getString(3);
      // With 0 and 2 the log is synced about once a second.
      return flush == 1 || flush == 3 ? new Durability("D", 0, detail) : new Durability("B", 2_000, detail);
    }
  }

  private long number(Connection connection, String sql) throws SQLException {
    try (PreparedStatement select = prepare(connection, sql); ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  @Override
  public long micros(Connection connection) throws SQLException {
    return number(connection, "SELECT " + clock);
  }

  @Override
  public String insertQueue() {
    return "INSERT INTO foliot_queue (name) VALUES (?) ON DUPLICATE KEY UPDATE name = name";
  }

  @Override
  public void text(PreparedStatement statement, int at, String text) throws SQLException {
    statement.setBytes(at, text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String text(ResultSet row, int at) throws SQLException {
    return rows.text(row, at);
  }

  /** Takes steps as one transaction: the caller's, if there is one. */
  private static <R> R together(Connection connection, Session.Step<R> steps) throws SQLException {
    if (!connection.getAutoCommit()) {
      return steps.take(connection);
    }
    connection.setAutoCommit(false);
    try {
      R result = steps.take(connection);
      commit(connection);
      connection.setAutoCommit(true);
      return result;
    } catch (SQLException | RuntimeException e) {
      try {
        connection.rollback();
        connection.setAutoCommit(true);
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  /** A commit that finds no room may have been made all the same: it must not look like a statement that found none. */
  private static void commit(Connection connection) throws SQLException {
    try {
      connection.commit();
    } catch (SQLException e) {
      throw FULL.contains(e.getErrorCode())
          ? new SQLException("the commit failed, and its outcome is unknown: " + e.getMessage(), e.getSQLState(), e)
          : e;
    }
  }

  /** Versions for rows to be written, which no row ever had: this one and as many behind it as there are rows. */
  private static long newVersions() {
    return ThreadLocalRandom.current().nextLong(Long.MAX_VALUE >>> 1);
  }

  private static int execute(PreparedStatement statement, Values values) throws SQLException {
    values.bind(statement, 1);
    return statement.executeUpdate();
  }

  /** Which rows have got the versions that they were to get. */
  private BitSet written(Connection connection, List<TaskId> ids, long versions) throws SQLException {
    Values values = new Values(rowWord, "id", "version");
    for (int i = 0; i < ids.size(); i++) {
      values.next().add(ids.get(i)).add(versions + i);
    }
    return places(connection, "SELECT x.place FROM " + values.from()
        + " STRAIGHT_JOIN foliot_task t ON t.id = x.id WHERE t.version = x.version", values);
  }

  private static BitSet all(int count) {
    BitSet all = new BitSet(count);
    all.set(0, count);
    return all;
  }

  @Override
  public Inserted insert(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException {
    boolean requests = tasks.stream().anyMatch(task -> task.draft().idempotency() != null);
    boolean keys = tasks.stream().anyMatch(task -> task.draft().key() != null);
    if (isMariaDb && !requests && !keys && tasks.size() <= FEW && connection.getAutoCommit()) {
      try {
        return insertUnnamed(connection, tasks, seenMicros);
      } catch (SQLException e) {
        if (!isDuplicate(e)) {
          throw e;
        }
        // A caller that had no answer repeats itself: nothing was inserted, and what is not there yet is, below.
      }
    }
    if (isMariaDb && !requests) {
      return insertReturning(connection, tasks, seenMicros);
    }
    return together(connection, transaction -> {
      long versions = newVersions();
      Values values = newTasks(tasks, requests);
      try (PreparedStatement insert = prepare(transaction, insert(values, seenMicros, versions, requests))) {
        int rows = execute(insert, values);
        assert rows >= 0 : rows;
      }
      Inserted inserted = inserted(transaction, tasks, versions);
      if (requests) {
        rememberNew(transaction, tasks, inserted);
      }
      return inserted;
    });
  }

  private Values newTasks(List<NewTask> tasks, boolean requests) {
    List<String> columns = new ArrayList<>(
        List.of("id", "queue", "task_key", "slot", "due", "relative", "max_attempts", "body"));
    if (requests) {
      columns.add("request");
    }
    Values values = new Values(rowWord, columns.toArray(String[]::new));
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

  private static final String DUE_AT = "CASE WHEN x.relative = 0 THEN x.due WHEN x.due = 0 THEN n.ms"
      + " ELSE n.up + x.due END";

  /**
   * The generation of a row is read from the clock when the row itself is made: so a key whose task ended while the batch
   * was under way gets a larger one.
   */
  private String insert(Values values, long seenMicros, long versions, boolean requests) {
    return "INSERT INTO foliot_task (" + INSERT_COLUMNS + ") WITH " + values.with() + " SELECT x.id, x.queue,"
        + " x.task_key, x.slot, " + DUE_AT + ", " + DUE_AT + ", " + DUE_AT + ", n.ms, n.ms, 1, GREATEST(n.floor, "
        + seenMicros + ", " + rowClock + "), 0, x.max_attempts, 0, 0, " + versions + " + x.place, "
        + values.column("body") + " FROM " + now
        + " n CROSS JOIN x"
        + (requests
            ? " WHERE x.request IS NULL OR NOT EXISTS (SELECT 1 FROM foliot_request r WHERE r.queue = x.queue"
                + " AND r.`key` = COALESCE(x.task_key, '') AND r.request = x.request)"
            // Without a condition, the ON that follows would be that of the join.
            : " WHERE TRUE")
        + " ON DUPLICATE KEY UPDATE version = foliot_task.version";
  }

  private static final String INSERTED = "version, generation, due_at, created_at, generation >= ";

  private Inserted insertReturning(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException {
    long versions = newVersions();
    Values values = newTasks(tasks, false);
    try (PreparedStatement insert = prepare(connection,
        insert(values, seenMicros, versions, false) + " RETURNING " + INSERTED + rowClock)) {
      values.bind(insert, 1);
      return inserted(insert, tasks.size(), versions);
    }
  }

  /** New tasks that nobody else can have inserted: as plain rows, where the table of parameters would be made and read first. */
  private Inserted insertUnnamed(Connection connection, List<NewTask> tasks, long seenMicros) throws SQLException {
    long versions = newVersions();
    String millis = clock + " DIV 1000";
    StringBuilder sql = new StringBuilder("INSERT INTO foliot_task (").append(INSERT_COLUMNS).append(") VALUES ");
    for (int i = 0; i < tasks.size(); i++) {
      NewTask task = tasks.get(i);
      sql.append(i == 0 ? "(?, " : ", (?, ").append(task.queue()).append(", NULL, ").append(task.slot()).append(", ")
          .append(switch (task.draft().due()) {
            case Due.At at -> Long.toString(at.millis());
            case Due.After after -> after.delayMillis() == 0
                ? millis
                : "(" + clock + " + 999) DIV 1000 + " + after.delayMillis();
          }).append(", wake_at, wake_at, ").append(millis).append(", created_at, 1, GREATEST(").append(seenMicros)
          .append(", ").append(rowClock).append("), 0, ").append(task.draft().maxAttempts()).append(", 0, 0, ")
          .append(versions + i + 1).append(", ?)");
    }
    sql.append(" RETURNING ").append(INSERTED).append(rowClock);
    try (PreparedStatement insert = prepare(connection, sql.toString())) {
      int at = 1;
      for (NewTask task : tasks) {
        Draft draft = task.draft();
        insert.setBytes(at++, Values.bytes(draft.id()));
        insert.setBytes(at++, Blobs.body(draft.id(), draft.key(), Rows.bodyOf(draft)));
      }
      return inserted(insert, tasks.size(), versions);
    }
  }

  private Inserted inserted(Connection connection, List<NewTask> tasks, long versions) throws SQLException {
    try (PreparedStatement select = prepare(connection,
        "SELECT " + INSERTED + rowClock + " FROM foliot_task WHERE id IN (" + list(tasks.size()) + ")")) {
      for (int i = 0; i < tasks.size(); i++) {
        select.setBytes(i + 1, Values.bytes(tasks.get(i).draft().id()));
      }
      return inserted(select, tasks.size(), versions);
    }
  }

  private static Inserted inserted(PreparedStatement statement, int count, long versions) throws SQLException {
    long[] generations = new long[count];
    long[] dueAts = new long[count];
    long nowMicros = 0;
    long last = 0;
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        long place = row.getLong(1) - versions - 1;
        if (place >= 0 && place < count) {
          generations[(int) place] = row.getLong(2);
          dueAts[(int) place] = row.getLong(3);
          nowMicros = 1_000 * row.getLong(4);
          last = row.getBoolean(5) ? Math.max(last, row.getLong(2)) : last;
        }
      }
    }
    return new Inserted(nowMicros, generations, dueAts, last);
  }

  private void rememberNew(Connection connection, List<NewTask> tasks, Inserted inserted) throws SQLException {
    long nowMillis = Math.floorDiv(inserted.micros(), 1_000);
    List<NewAnswer> answers = new ArrayList<>();
    for (int i = 0; i < tasks.size(); i++) {
      Draft draft = tasks.get(i).draft();
      Draft.Idempotency idempotency = draft.idempotency();
      if (idempotency != null && inserted.generations()[i] > 0) {
        long dueAt = inserted.dueAts()[i];
        SubmitResult result = new SubmitResult(SubmitResult.Kind.CREATED, draft.id(), inserted.generations()[i], dueAt,
            dueAt <= nowMillis ? TaskState.READY : TaskState.DELAYED, true);
        answers.add(new NewAnswer(new RequestName(draft.queue(), draft.key(), idempotency.key()),
            tasks.get(i).queue(), new RecordTable.Answered(idempotency.digest(), result,
                nowMillis + Draft.Idempotency.KEPT_MILLIS),
            -1));
      }
    }
    remember(connection, answers, new BitSet());
  }

  private void remember(Connection connection, List<NewAnswer> answers, BitSet changed) throws SQLException {
    Values values = new Values(rowWord, "queue", "task_key", "request", "digest", "kind", "id", "generation",
        "due_at", "state", "drop_at");
    for (NewAnswer answer : answers) {
      if (answer.change() < 0 || changed.get(answer.change())) {
        SubmitResult result = answer.answered().result();
        String key = answer.name().key();
        values.next().add(answer.queue()).add(key == null ? "" : key).add(answer.name().request())
            .add(answer.answered().digest()).add(Codes.of(result.kind())).add(result.id()).add(result.generation())
            .add(result.dueAt()).add(Codes.ofAnswer(result.state())).add(answer.answered().dropAt());
      }
    }
    if (values.rows() == 0) {
      return;
    }
    try (PreparedStatement insert = prepare(connection, "INSERT INTO foliot_request (" + REQUEST_COLUMNS + ") WITH "
        + values.with() + " SELECT queue, task_key, request, digest, kind, id, generation, due_at, state, drop_at"
        + " FROM x")) {
      int rows = execute(insert, values);
      assert rows == values.rows() : rows;
    }
  }

  @Override
  public BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException {
    return together(connection, transaction -> {
      long versions = newVersions();
      List<TaskId> ids = new ArrayList<>();
      Values values = new Values(rowWord, "id", "generation");
      for (int i = 0; i < tasks.size(); i++) {
        ids.add(tasks.get(i).draft().id());
        values.next().add(ids.get(i)).add(generations[i]);
      }
      try (PreparedStatement update = prepare(transaction, "UPDATE " + values.from()
          + " STRAIGHT_JOIN foliot_task t ON t.id = x.id SET t.generation = " + generation + ", t.version = "
          + versions + " + x.place - 1 WHERE t.generation = x.generation AND t.state = 1")) {
        int rows = execute(update, values);
        return rows == ids.size() ? all(rows) : written(transaction, ids, versions);
      }
    });
  }

  @Override
  public List<Probed> probe(Connection connection, List<TaskId> ids) throws SQLException {
    Values values = new Values(rowWord, "id");
    ids.forEach(id -> values.next().add(id));
    List<Probed> found = new ArrayList<>(Collections.nCopies(ids.size(), Probed.UNKNOWN));
    try (PreparedStatement select = prepare(connection, "SELECT x.place, CASE WHEN t.state = 2 THEN t.lease_end"
        + " ELSE t.due_at END, t.wake_at FROM " + values.from() + " STRAIGHT_JOIN foliot_task t ON t.id = x.id")) {
      values.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          found.set(row.getInt(1) - 1, new Probed(row.getLong(2), row.getLong(3)));
        }
      }
    }
    return found;
  }

  @Override
  public Snapshot read(Connection connection, Numbers numbers, Wanted wanted, boolean bodies, boolean locking)
      throws SQLException {
    Values keys = new Values(rowWord, "queue", "task_key");
    for (KeyName key : wanted.keys()) {
      int queue = numbers.find(connection, key.queue());
      if (queue != Numbers.NONE) {
        keys.next().add(queue).add(key.key());
      }
    }
    Values ids = new Values(rowWord, "id");
    wanted.ids().forEach(id -> ids.next().add(id));
    String body = bodies ? "t.body" : "'' AS body";
    String live = "SELECT " + LIVE + body + LIVE_END;
    String kept = "SELECT " + KEPT + body + KEPT_END;
    List<Part> parts = new ArrayList<>();
    if (ids.rows() > 0) {
      parts.add(new Part(live + " FROM " + ids.from() + " STRAIGHT_JOIN foliot_task t ON t.id = x.id", ids, true));
      parts.add(new Part(kept + " FROM " + ids.from() + " STRAIGHT_JOIN foliot_final t ON t.id = x.id", ids, false));
    }
    if (keys.rows() > 0) {
      parts.add(new Part(live + " FROM " + keys.from()
          + " STRAIGHT_JOIN foliot_task t ON t.queue = x.queue AND t.`key` = x.task_key", keys, true));
      parts.add(new Part(kept + " FROM " + keys.from()
          + " STRAIGHT_JOIN foliot_final t ON t.queue = x.queue AND t.`key` = x.task_key WHERE t.generation ="
          + " (SELECT MAX(f.generation) FROM foliot_final f WHERE f.queue = x.queue AND f.`key` = x.task_key)", keys,
          false));
    }
    return locking
        ? readLocking(connection, numbers, wanted, parts, bodies)
        : readAtOnce(connection, numbers, wanted, parts, bodies);
  }

  /** Some of what is to be read. */
  private record Part(String sql, Values values, boolean live) {}

  private Snapshot readAtOnce(Connection connection, Numbers numbers, Wanted wanted, List<Part> parts, boolean bodies)
      throws SQLException {
    List<Row> found = new ArrayList<>();
    String all = parts.isEmpty()
        ? "SELECT " + LIVE + "'' AS body" + LIVE_END + " FROM foliot_task t WHERE FALSE"
        : parts.stream().map(Part::sql).collect(Collectors.joining(" UNION ALL "));
    long nowMicros = 0;
    long floor = 0;
    try (PreparedStatement select = prepare(connection,
        "SELECT n.micros, n.floor, r.id IS NOT NULL, r.* FROM " + now + " n LEFT JOIN (" + all + ") r ON TRUE")) {
      int at = 1;
      for (Part part : parts) {
        at = part.values().bind(select, at);
      }
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          nowMicros = row.getLong(1);
          floor = row.getLong(2);
          if (row.getBoolean(3)) {
            found.add(rows.row(connection, numbers, row, 4, bodies));
          }
        }
      }
    }
    return new Snapshot(nowMicros, floor, found, answers(connection, numbers, wanted));
  }

  /**
   * With locks on the live rows: in a transaction that repeats its reads, only locking ones see what others have committed
   * since it began. The rows are about to be written anyway.
   */
  private Snapshot readLocking(Connection connection, Numbers numbers, Wanted wanted, List<Part> parts, boolean bodies)
      throws SQLException {
    long nowMicros = micros(connection);
    List<Row> found = new ArrayList<>();
    for (Part part : parts) {
      try (PreparedStatement select = prepare(connection, part.sql() + (part.live() ? " FOR UPDATE" : ""))) {
        int next = part.values().bind(select, 1);
        assert next > 1 : next;
        try (ResultSet row = select.executeQuery()) {
          while (row.next()) {
            found.add(rows.row(connection, numbers, row, 1, bodies));
          }
        }
      }
    }
    return new Snapshot(nowMicros, floor(connection), found, answers(connection, numbers, wanted));
  }

  private Map<RequestName, RecordTable.Answered> answers(Connection connection, Numbers numbers, Wanted wanted)
      throws SQLException {
    if (wanted.requests().isEmpty()) {
      return Map.of();
    }
    List<RequestName> names = List.copyOf(wanted.requests());
    Values values = requests(connection, names, numbers);
    Map<RequestName, RecordTable.Answered> answers = new HashMap<>();
    try (PreparedStatement select = prepare(connection, "SELECT x.place, r.digest, r.kind, r.id, r.generation,"
        + " r.due_at, r.state, r.drop_at FROM " + values.from() + " STRAIGHT_JOIN foliot_request r"
        + " ON r.queue = x.queue AND r.`key` = x.task_key AND r.request = x.request")) {
      values.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          SubmitResult result = new SubmitResult(Codes.answerKind(row.getInt(3)), MySqlRows.idOf(row, 4),
              row.getLong(5), row.getLong(6), Codes.answerState(row.getInt(7)), false);
          answers.put(names.get(row.getInt(1) - 1),
              new RecordTable.Answered(row.getLong(2), result, row.getLong(8)));
        }
      }
    }
    return answers;
  }

  private Values requests(Connection connection, List<RequestName> names, Numbers numbers) throws SQLException {
    Values values = new Values(rowWord, "queue", "task_key", "request");
    for (RequestName name : names) {
      String key = name.key();
      values.next().add(numbers.find(connection, name.queue())).add(key == null ? "" : key).add(name.request());
    }
    return values;
  }

  @Override
  public BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException {
    return together(connection, transaction -> {
      BitSet written = new BitSet();
      if (!changes.isEmpty()) {
        written = update(transaction, changes);
      }
      remember(transaction, answers, written);
      return written;
    });
  }

  private static final List<String> LIVE_COLUMNS = List.of("wake_at", "due_at", "first_due_at", "changed_at",
      "generation", "lease_end", "claimed_at", "part", "attempt", "max_attempts", "state", "settled_as",
      "cancel_requested", "outstanding", "token", "successor", "attempts");

  private static void addLive(Values values, Change change) {
    TaskRecord record = change.after();
    values.add(record.wakeAt()).add(record.dueAt()).add(record.firstDueAt()).add(record.changedAt())
        .add(record.generation()).add(record.leaseEnd()).add(record.claimedAt()).add(change.part())
        .add(record.attempt()).add(record.maxAttempts()).add(Codes.of(record.state()))
        .add(record.settledAs() == null ? Codes.NO_END : Codes.of(record.settledAs())).add(record.cancelRequested())
        .add(record.outstanding()).add(record.token()).add(Blobs.successor(record.id(), record.successor()))
        .add(Blobs.attempts(record.id(), record.attempts()));
  }

  private static byte @Nullable [] newBody(Change change) {
    return change.bodyChanges() ? Blobs.body(change.after().id(), change.after().key(), change.after().body()) : null;
  }

  /** How a column of the parameters becomes one of a row. */
  private static String fromX(Values values, String column) {
    return switch (column) {
      case "lease_end", "claimed_at" -> "NULLIF(x." + column + ", 0)";
      case "settled_as" -> "NULLIF(x.settled_as, -1)";
      default -> values.column(column);
    };
  }

  private static String[] withLive(String... others) {
    List<String> columns = new ArrayList<>(LIVE_COLUMNS);
    columns.addAll(Arrays.asList(others));
    return columns.toArray(String[]::new);
  }

  private BitSet update(Connection connection, List<Change> changes) throws SQLException {
    long versions = newVersions();
    Values values = new Values(rowWord, withLive("id", "version"));
    for (Change change : changes) {
      addLive(values.next(), change);
      values.add(change.after().id()).add(change.version());
    }
    String sets = LIVE_COLUMNS.stream().map(column -> "t." + column + " = " + fromX(values, column))
        .collect(Collectors.joining(", "));
    BitSet written;
    try (PreparedStatement update = prepare(connection, "UPDATE " + values.from()
        + " STRAIGHT_JOIN foliot_task t ON t.id = x.id SET " + sets + ", t.version = " + versions
        + " + x.place - 1 WHERE t.version = x.version")) {
      written = execute(update, values) == changes.size()
          ? all(changes.size())
          : written(connection, changes.stream().map(change -> change.after().id()).toList(), versions);
    }
    List<NewBody> bodies = new ArrayList<>();
    written.stream().mapToObj(changes::get).forEach(change -> {
      byte[] body = newBody(change);
      if (body != null) {
        bodies.add(new NewBody(change.after().id(), body));
      }
    });
    carry(connection, bodies);
    return written;
  }

  /** What a task carries from now on. */
  @SuppressWarnings("ArrayRecordComponent") // made, written, and dropped
  private record NewBody(TaskId id, byte[] body) {}

  /**
   * Has tasks that this transaction has locked carry something else. An UPDATE of joined tables would gather what is long in
   * a file. As these ids are there, nothing is inserted: what else the rows say here does not count.
   */
  private void carry(Connection connection, List<NewBody> bodies) throws SQLException {
    if (bodies.isEmpty()) {
      return;
    }
    String row = "(?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)";
    try (PreparedStatement insert = prepare(connection, "INSERT INTO foliot_task (id, body, wake_at, due_at,"
        + " first_due_at, created_at, changed_at, generation, version, queue, part, attempt, max_attempts, state,"
        + " cancel_requested, outstanding) VALUES " + (row + ", ").repeat(bodies.size() - 1) + row
        + " ON DUPLICATE KEY UPDATE body = VALUES(body)")) {
      int at = 1;
      for (NewBody body : bodies) {
        insert.setBytes(at++, Values.bytes(body.id()));
        insert.setBytes(at++, body.body());
      }
      int rows = insert.executeUpdate();
      assert rows >= 0 : rows;
    }
  }

  @Override
  public BitSet end(Connection connection, List<Change> changes) throws SQLException {
    return together(connection, transaction -> {
      Values read = new Values(rowWord, "id", "version");
      changes.forEach(change -> read.next().add(change.after().id()).add(change.version()));
      BitSet same = places(transaction, "SELECT x.place FROM " + read.from()
          + " STRAIGHT_JOIN foliot_task t ON t.id = x.id WHERE t.version = x.version FOR UPDATE", read);
      Values values = new Values(rowWord, withLive("reason", "drop_at", "body", "id"));
      same.stream().mapToObj(changes::get).forEach(change -> {
        addLive(values.next(), change);
        values.add(change.after().reason()).add(change.after().dropAt()).add(newBody(change))
            .add(change.after().id());
      });
      if (values.rows() > 0) {
        keep(transaction, values);
        drop(transaction, same.stream().mapToObj(i -> changes.get(i).after().id()).toList());
      }
      return same;
    });
  }

  @Override
  public BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException {
    return together(connection, transaction -> {
      Values read = new Values(rowWord, "id", "version");
      rows.forEach(row -> read.next().add(row.id()).add(row.version()));
      BitSet same = places(transaction, "SELECT x.place FROM " + read.from()
          + " STRAIGHT_JOIN foliot_task t ON t.id = x.id WHERE t.version = x.version FOR UPDATE", read);
      if (!same.isEmpty()) {
        Values values = new Values(rowWord, "id", "reason", "kept");
        same.stream().mapToObj(rows::get)
            .forEach(row -> values.next().add(row.id()).add(row.reason()).add(row.keptMillis()));
        keepUnreadable(transaction, values);
        drop(transaction, same.stream().mapToObj(i -> rows.get(i).id()).toList());
      }
      return same;
    });
  }

  /** The bytes of a successor have no column there; behind those of the attempts nothing is lost. */
  private void keepUnreadable(Connection connection, Values values) throws SQLException {
    try (PreparedStatement insert = prepare(connection, "INSERT INTO foliot_final (" + FINAL_COLUMNS + ") WITH "
        + values.with() + " SELECT t.id, t.queue, t.`key`, 4, t.due_at, t.first_due_at, t.created_at, n.ms,"
        + " t.lease_end, t.claimed_at, t.generation, t.attempt, t.max_attempts, t.token, NULL, t.outstanding,"
        + " CASE WHEN t.successor IS NULL THEN t.attempts ELSE CONCAT(COALESCE(t.attempts, ''), t.successor) END,"
        + " x.reason, n.ms + x.kept, " + Rows.SET_ASIDE + ", NULL, t.body FROM " + now
        + " n CROSS JOIN x STRAIGHT_JOIN foliot_task t ON t.id = x.id")) {
      int kept = execute(insert, values);
      assert kept == values.rows() : kept;
    }
  }

  private BitSet places(Connection connection, String sql, Values values) throws SQLException {
    BitSet places = new BitSet();
    try (PreparedStatement select = prepare(connection, sql)) {
      values.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          places.set(row.getInt(1) - 1);
        }
      }
    }
    return places;
  }

  private void keep(Connection connection, Values values) throws SQLException {
    try (PreparedStatement insert = prepare(connection, "INSERT INTO foliot_final (" + FINAL_COLUMNS
        + ") WITH " + values.with()
        + " SELECT t.id, t.queue, t.`key`, x.state, x.due_at, x.first_due_at, t.created_at, x.changed_at,"
        + " NULLIF(x.lease_end, 0), NULLIF(x.claimed_at, 0), x.generation, x.attempt, x.max_attempts, x.token,"
        + " NULLIF(x.settled_as, -1), x.outstanding, x.attempts, x.reason, x.drop_at, NULL, NULL,"
        + " COALESCE(" + values.column("body") + ", t.body) FROM x STRAIGHT_JOIN foliot_task t ON t.id = x.id")) {
      int rows = execute(insert, values);
      assert rows == values.rows() : rows;
    }
  }

  private void drop(Connection connection, List<TaskId> ids) throws SQLException {
    try (PreparedStatement delete = prepare(connection,
        "DELETE FROM foliot_task WHERE id IN (" + list(ids.size()) + ")")) {
      for (int i = 0; i < ids.size(); i++) {
        delete.setBytes(i + 1, Values.bytes(ids.get(i)));
      }
      int rows = delete.executeUpdate();
      assert rows == ids.size() : rows;
    }
  }

  @Override
  public BitSet enter(Connection connection, List<Change> changes) throws SQLException {
    return together(connection, transaction -> {
      long versions = newVersions();
      Values values = new Values(rowWord, withLive("body", "id", "queue", "task_key", "created_at", "was"));
      for (Change change : changes) {
        TaskRecord before = change.before();
        addLive(values.next(), change);
        values.add(newBody(change)).add(change.after().id()).add(change.queue()).add(change.after().key())
            .add(change.after().createdAt()).add(before == null ? 0 : before.generation());
      }
      String columns = String.join(", ", LIVE_COLUMNS);
      String selected = LIVE_COLUMNS.stream().map(column -> fromX(values, column)).collect(Collectors.joining(", "));
      try (PreparedStatement insert = prepare(transaction, "INSERT INTO foliot_task (" + columns
          + ", id, queue, `key`, created_at, version, body) WITH " + values.with() + " SELECT " + selected
          + ", x.id, x.queue, x.task_key,"
          + " x.created_at, " + versions + " + x.place - 1, COALESCE(" + values.column("body")
          + ", f.body) FROM x LEFT JOIN foliot_final f ON f.id = x.id AND f.generation = x.was WHERE x.was = 0 OR (f.id IS NOT NULL"
          + " AND NOT EXISTS (SELECT 1 FROM foliot_final y WHERE y.queue = x.queue AND y.`key` = x.task_key"
          + " AND y.generation >= x.generation)) ON DUPLICATE KEY UPDATE version = foliot_task.version")) {
        int rows = execute(insert, values);
        assert rows >= 0 : rows;
      }
      List<TaskId> ids = changes.stream().map(change -> change.after().id()).toList();
      BitSet written = written(transaction, ids, versions);
      if (!written.isEmpty()) {
        try (PreparedStatement delete = prepare(transaction,
            "DELETE FROM foliot_final WHERE id IN (" + list(written.cardinality()) + ")")) {
          int at = 1;
          for (int i = written.nextSetBit(0); i >= 0; i = written.nextSetBit(i + 1)) {
            delete.setBytes(at++, Values.bytes(ids.get(i)));
          }
          int rows = delete.executeUpdate();
          assert rows <= written.cardinality() : rows;
        }
      }
      return written;
    });
  }

  /**
   * In two statements: the tokens tell what the first one has done. They are made of the task's id and of a secret of this
   * call, within the statement, which then needs no more than a list of ids.
   */
  @Override
  public Claimed claim(Connection connection, Numbers numbers, List<NewClaim> claims, int slotCount)
      throws SQLException {
    ByteBuffer secret = ByteBuffer.allocate(32);
    for (NewClaim half : List.of(claims.getFirst(), claims.getLast())) {
      secret.putLong(half.token().high()).putLong(half.token().low());
    }
    claim(connection, claims, secret.array(), slotCount);
    Map<TaskId, Integer> places = new HashMap<>();
    for (int i = 0; i < claims.size(); i++) {
      places.put(claims.get(i).id(), i);
    }
    List<@Nullable ClaimResult> results = new ArrayList<>(Collections.nCopies(claims.size(), null));
    long claimedMicros = 0;
    long readMicros = 0;
    try (PreparedStatement select = prepare(connection, "SELECT " + clock + ", " + LIVE + "t.body" + LIVE_END
        + " FROM foliot_task t WHERE t.id IN (" + list(claims.size()) + ")")) {
      int next = bindIds(select, 1, claims);
      assert next == claims.size() + 1 : next;
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          readMicros = row.getLong(1);
          Row read = rows.row(connection, numbers, row, 2, true);
          if (read.damage() != null) {
            // The general way sets it aside, or leaves it to those who can read it.
            continue;
          }
          TaskRecord task = read.record();
          int place = Objects.requireNonNull(places.get(task.id()));
          if (tokenOf(secret.array(), task.id()).equals(task.token()) && task.state() == TaskState.RUNNING) {
            claimedMicros = 1_000 * task.claimedAt();
            results.set(place, new ClaimResult.Won(task));
          } else if (task.state() == TaskState.DELAYED && task.dueAt() > Math.floorDiv(readMicros, 1_000)
              && task.wakeAt() == task.dueAt() && !task.parked()) {
            results.set(place, new ClaimResult.Later(task.dueAt()));
          } else if (task.state() == TaskState.DELAYED
              && notAfter(claims.get(place)) < Math.floorDiv(readMicros, 1_000)) {
            results.set(place, ClaimResult.Ready.READY);
          }
        }
      }
    }
    return new Claimed(claimedMicros > 0 ? claimedMicros : readMicros, results);
  }

  @Override
  public Claimed look(Connection connection, Numbers numbers, List<NewClaim> looks, int slotCount)
      throws SQLException {
    return claim(connection, numbers, looks, slotCount);
  }

  private void claim(Connection connection, List<NewClaim> claims, byte[] secret, int slotCount) throws SQLException {
    List<List<NewClaim>> bounded = List.copyOf(claims.stream().filter(claim -> notAfter(claim) < Long.MAX_VALUE)
        .collect(Collectors.groupingBy(MySqlDialect::notAfter)).values());
    List<List<NewClaim>> byLease = List
        .copyOf(claims.stream().collect(Collectors.groupingBy(NewClaim::leaseMillis)).values());
    String nowMillis = "(" + clock + " DIV 1000)";
    String due = "CASE WHEN due_at <= " + nowMillis + " THEN ";
    String leaseEnd = nowMillis + " + " + lease(byLease);
    // Assignments see what those before them have made of the row: none reads a column that another one writes.
    try (PreparedStatement update = prepare(connection, "UPDATE foliot_task SET state = " + due
        + "2 ELSE 1 END, attempt = " + due + "attempt + 1 ELSE attempt END, token = " + due
        + "UNHEX(LEFT(SHA2(CONCAT(?, id), 256), 32)) ELSE token END, settled_as = " + due
        + "NULL ELSE settled_as END, claimed_at = " + due + nowMillis + " ELSE claimed_at END, changed_at = " + due
        + nowMillis + " ELSE changed_at END, lease_end = " + due + leaseEnd + " ELSE lease_end END, wake_at = " + due
        + leaseEnd + " ELSE due_at END, part = CASE WHEN part >= " + Parts.PARKED + " THEN " + SLOT_HASH + " & "
        + (slotCount - 1) + " ELSE part END, version = version + 1 WHERE id IN (" + list(claims.size())
        + ") AND state = 1" + KNOWN_VERSION + " AND CASE WHEN due_at <= " + nowMillis + " THEN "
        + inTime(bounded, nowMillis) + " ELSE wake_at <> due_at OR part >= "
        + Parts.PARKED + " END")) {
      update.setBytes(1, secret);
      int at = 2;
      for (int i = 0; i < 2; i++) {
        for (List<NewClaim> others : byLease.subList(1, byLease.size())) {
          at = bindIds(update, at, others);
        }
      }
      at = bindIds(update, at, claims);
      for (List<NewClaim> some : bounded) {
        at = bindIds(update, at, some);
      }
      assert at > claims.size() : at;
      int rows = update.executeUpdate();
      assert rows <= claims.size() : rows;
    }
  }

  /** Until when a claim may win; a look may not at any time. */
  private static long notAfter(NewClaim claim) {
    return claim.leaseMillis() == 0 ? Long.MIN_VALUE : claim.notAfterMillis();
  }

  /** Whether the claim of a row may still win. */
  private static String inTime(List<List<NewClaim>> bounded, String nowMillis) {
    return bounded.isEmpty()
        ? "TRUE"
        : bounded.stream().map(some -> " WHEN id IN (" + list(some.size()) + ") THEN " + nowMillis + " <= "
            + notAfter(some.getFirst())).collect(Collectors.joining("", "CASE", " ELSE TRUE END"));
  }

  /** The lease of a row; that of the first list where no other one has it. */
  private static String lease(List<List<NewClaim>> byLease) {
    long first = byLease.getFirst().getFirst().leaseMillis();
    if (byLease.size() == 1) {
      return Long.toString(first);
    }
    return byLease.subList(1, byLease.size()).stream()
        .map(others -> " WHEN id IN (" + list(others.size()) + ") THEN " + others.getFirst().leaseMillis())
        .collect(Collectors.joining("", "CASE", " ELSE " + first + " END"));
  }

  private static String list(int count) {
    return "?, ".repeat(count - 1) + "?";
  }

  private static int bindIds(PreparedStatement statement, int first, List<NewClaim> claims) throws SQLException {
    int at = first;
    for (NewClaim claim : claims) {
      statement.setBytes(at++, Values.bytes(claim.id()));
    }
    return at;
  }

  /** The token that the statement has made. */
  private static Token tokenOf(byte[] secret, TaskId id) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(secret);
      ByteBuffer hash = ByteBuffer.wrap(digest.digest(Values.bytes(id)));
      return new Token(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Inserts what is to be kept, which locks the rows, and deletes what was inserted. */
  @Override
  public BitSet finish(Connection connection, List<Settlement> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException {
    return together(connection, transaction -> {
      Values values = new Values(rowWord, "id", "token", "generation", "begun_at", "detail");
      for (Settlement item : settlements) {
        values.next().add(item.id()).add(item.token()).add(item.generation()).add(item.begunAt())
            .add(Rows.cut(item.detail()));
      }
      int rows;
      try (PreparedStatement insert = prepare(transaction, "INSERT INTO foliot_final (" + FINAL_COLUMNS
          + ") SELECT t.id, t.queue, t.`key`, 3, t.due_at, t.first_due_at, t.created_at, n.ms, t.lease_end,"
          + " t.claimed_at, t.generation, t.attempt, t.max_attempts, t.token, 0, t.outstanding, t.attempts, '', n.ms + "
          + retention(retentions, otherRetentionMillis) + ", x.begun_at, x.detail, t.body FROM " + now
          + " n STRAIGHT_JOIN " + values.from() + " STRAIGHT_JOIN foliot_task t ON t.id = x.id WHERE t.state = 2"
          + " AND t.token = x.token AND t.generation = x.generation AND t.successor IS NULL"
          + " AND t.generation < n.micros FOR UPDATE")) {
        rows = execute(insert, values);
      }
      BitSet finished = rows == settlements.size() ? all(rows) : kept(transaction, settlements);
      if (!finished.isEmpty()) {
        drop(transaction, finished.stream().mapToObj(i -> settlements.get(i).id()).toList());
      }
      return finished;
    });
  }

  /** Which of these tasks are kept by that claim, although they are still among the live ones. */
  private BitSet kept(Connection connection, List<Settlement> settlements) throws SQLException {
    Values values = new Values(rowWord, "id", "token");
    settlements.forEach(item -> values.next().add(item.id()).add(item.token()));
    return places(connection, "SELECT x.place FROM " + values.from() + " STRAIGHT_JOIN foliot_final f ON f.id = x.id"
        + " STRAIGHT_JOIN foliot_task t ON t.id = x.id WHERE f.token = x.token", values);
  }

  private static String retention(List<Retention> retentions, long otherMillis) {
    StringBuilder cases = new StringBuilder("CASE t.queue");
    for (Retention retention : retentions) {
      cases.append(" WHEN ").append(retention.queue()).append(" THEN ").append(retention.millis());
    }
    return retentions.isEmpty() ? Long.toString(otherMillis) : cases + " ELSE " + otherMillis + " END";
  }

  @Override
  public Touched touch(Connection connection, List<KeyTouch> touches, boolean resets, long seenMicros)
      throws SQLException {
    return together(connection, transaction -> {
      long versions = newVersions();
      Values values = resets
          ? new Values(rowWord, "queue", "task_key", "due", "relative", "max_wait", "max_attempts")
          : new Values(rowWord, "queue", "task_key", "due", "relative", "max_wait");
      Values keys = new Values(rowWord, "queue", "task_key");
      for (KeyTouch touch : touches) {
        // Two times added stay within 64 bits.
        values.next().add(touch.queue()).add(touch.key()).add(Dialect.millis(touch.due()))
            .add(touch.due() instanceof Due.After).add(Math.min(touch.maxWaitMillis(), Long.MAX_VALUE / 2));
        if (resets) {
          values.add(touch.maxAttempts());
        }
        keys.next().add(touch.queue()).add(touch.key());
      }
      String dueAt = "LEAST(" + DUE_AT + ", t.first_due_at + x.max_wait)";
      try (PreparedStatement update = prepare(transaction, "UPDATE " + now + " n STRAIGHT_JOIN " + values.from()
          + " STRAIGHT_JOIN foliot_task t ON t.queue = x.queue AND t.`key` = x.task_key SET t.wake_at = CASE WHEN"
          + " t.part >= 65536 OR " + dueAt + " <= n.ms THEN t.wake_at WHEN t.wake_at <= n.ms + (" + dueAt
          + " - n.ms) DIV 8 * 5 THEN " + dueAt + " ELSE t.wake_at END, t.due_at = " + dueAt
          + ", t.generation = GREATEST(t.generation + 1, n.micros, n.floor, " + seenMicros
          + "), t.attempt = 0, "
          + (resets
              ? "t.max_attempts = COALESCE(NULLIF(x.max_attempts, 0), t.max_attempts), "
              : "")
          + "t.version = " + versions + " + x.place - 1 WHERE t.state = 1 AND " + dueAt
          + " >= t.wake_at")) {
        int rows = execute(update, values);
        assert rows <= touches.size() : rows;
      }
      Touched touched = touched(transaction, keys, touches.size(), versions);
      List<NewBody> bodies = new ArrayList<>();
      for (int i = 0; i < touches.size(); i++) {
        TouchResult result = touched.results().get(i);
        KeyTouch touch = touches.get(i);
        if (result != null && touch.body() != null) {
          bodies.add(new NewBody(Objects.requireNonNull(result.id()), Blobs.body(touch.key(), touch.body())));
        }
      }
      carry(transaction, bodies);
      return touched;
    });
  }

  private Touched touched(Connection connection, Values keys, int count, long versions) throws SQLException {
    List<@Nullable TouchResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long readMicros = 0;
    try (PreparedStatement select = prepare(connection, "SELECT n.micros, x.place, t.version, t.id, t.generation,"
        + " t.due_at, t.outstanding FROM " + now + " n STRAIGHT_JOIN " + keys.from()
        + " STRAIGHT_JOIN foliot_task t ON t.queue = x.queue AND t.`key` = x.task_key")) {
      keys.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          readMicros = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (row.getLong(3) == versions + place) {
            results.set(place, new TouchResult(
                row.getBoolean(7) ? TouchResult.Kind.RESET_PENDING : TouchResult.Kind.RESET,
                MySqlRows.idOf(row, 4), row.getLong(5), row.getLong(6), false));
          }
        }
      }
    }
    return new Touched(readMicros, results);
  }

  @Override
  public BitSet park(Connection connection, List<DueEntry> entries) throws SQLException {
    return together(connection, transaction -> {
      long versions = newVersions();
      Values values = new Values(rowWord, "id", "wake_at");
      entries.forEach(entry -> values.next().add(entry.id()).add(entry.wakeAt()));
      try (PreparedStatement update = prepare(transaction, "UPDATE " + now + " n STRAIGHT_JOIN " + values.from()
          + " STRAIGHT_JOIN foliot_task t ON t.id = x.id SET t.part = " + Parts.PARKED + " + t.queue, t.version = "
          + versions + " + x.place - 1 WHERE t.wake_at = x.wake_at AND t.part < " + Parts.PARKED
          + " AND t.state = 1 AND t.due_at <= n.ms")) {
        int rows = execute(update, values);
        return rows == entries.size()
            ? all(rows)
            : written(transaction, entries.stream().map(DueEntry::id).toList(), versions);
      }
    });
  }

  @Override
  public List<DueSlice> due(Connection connection, Numbers numbers, List<DueScan> scans) throws SQLException {
    List<List<DueEntry>> found = new ArrayList<>(scans.size());
    scans.forEach(scan -> found.add(new ArrayList<>()));
    List<Integer> left = scans.size() > SCANS_AT_ONCE
        ? worthwhile(connection, scans)
        : IntStream.range(0, scans.size()).boxed().toList();
    if (!left.isEmpty()) {
      scan(connection, numbers, scans, left, found);
    }
    return Rows.slices(scans, found);
  }

  /** The places of scans that find something: one look at the first entry of each slot costs little, a scan more. */
  private List<Integer> worthwhile(Connection connection, List<DueScan> scans) throws SQLException {
    long from = Long.MAX_VALUE;
    Set<Integer> slots = new HashSet<>();
    for (DueScan scan : scans) {
      from = Math.min(from, scan.fromWakeAt());
      slots.add(scan.slot());
    }
    String list = slots.stream().map(String::valueOf).collect(Collectors.joining(", "));
    Map<Integer, Long> first = new HashMap<>();
    try (PreparedStatement select = prepare(connection, "SELECT part, MIN(wake_at) FROM foliot_task WHERE part IN ("
        + list + ") AND wake_at >= ? GROUP BY part")) {
      select.setLong(1, from);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          first.put(row.getInt(1), row.getLong(2));
        }
      }
    }
    return IntStream.range(0, scans.size()).filter(i -> {
      Long wakeAt = first.get(scans.get(i).slot());
      return wakeAt != null && wakeAt <= scans.get(i).toWakeAt();
    }).boxed().toList();
  }

  private void scan(Connection connection, Numbers numbers, List<DueScan> scans, List<Integer> places,
      List<List<DueEntry>> found) throws SQLException {
    String one = "(SELECT %d AS place, wake_at, id, queue FROM foliot_task WHERE part = ? AND wake_at >= ?"
        + " AND wake_at <= ? AND (wake_at > ? OR id > ?) ORDER BY wake_at, id LIMIT ?)";
    try (PreparedStatement select = prepare(connection,
        places.stream().map(one::formatted).collect(Collectors.joining(" UNION ALL ")))) {
      int at = 1;
      for (int place : places) {
        DueScan scan = scans.get(place);
        TaskId after = scan.after();
        select.setInt(at++, scan.slot());
        select.setLong(at++, scan.fromWakeAt());
        select.setLong(at++, scan.toWakeAt());
        select.setLong(at++, scan.fromWakeAt());
        select.setBytes(at++, Values.bytes(after == null ? NO_ID : after));
        select.setInt(at++, scan.limit() == Integer.MAX_VALUE ? scan.limit() : scan.limit() + 1);
      }
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          found.get(row.getInt(1)).add(new DueEntry(row.getLong(2), MySqlRows.idOf(row, 3),
              numbers.name(connection, row.getInt(4))));
        }
      }
    }
  }

  /** Before all ids, and none. */
  private static final TaskId NO_ID = new TaskId(0, 0);

  private static String slotIn(SlotSet slots) {
    return slots.isAll()
        ? ""
        : " AND (" + SLOT_HASH + " & " + (slots.slotCount() - 1) + ") IN ("
        // No slot is -1; a list must not be empty.
            + IntStream.concat(IntStream.of(-1), Arrays.stream(Rows.slots(slots))).mapToObj(String::valueOf)
                .collect(Collectors.joining(", "))
            + ")";
  }

  @Override
  public List<DueEntry> parked(Connection connection, int queue, String name, SlotSet slots, @Nullable DueEntry after,
      int limit) throws SQLException {
    long from = after == null ? Long.MIN_VALUE : after.wakeAt();
    try (PreparedStatement select = prepare(connection, "SELECT t.wake_at, t.id FROM foliot_task t WHERE t.part = ?"
        + " AND t.wake_at >= ? AND (t.wake_at > ? OR t.id > ?)" + slotIn(slots)
        + " ORDER BY t.wake_at, t.id LIMIT ?")) {
      select.setInt(1, Parts.parked(queue));
      select.setLong(2, from);
      select.setLong(3, from);
      select.setBytes(4, Values.bytes(after == null ? NO_ID : after.id()));
      select.setInt(5, limit);
      List<DueEntry> entries = new ArrayList<>();
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          entries.add(new DueEntry(row.getLong(1), MySqlRows.idOf(row, 2), name));
        }
      }
      return entries;
    }
  }

  @Override
  public List<Integer> parkedQueues(Connection connection, SlotSet slots) throws SQLException {
    List<Integer> queues = new ArrayList<>();
    try (PreparedStatement select = prepare(connection,
        "SELECT DISTINCT part FROM foliot_task WHERE part >= " + Parts.PARKED);
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        queues.add(row.getInt(1) - Parts.PARKED);
      }
    }
    if (!slots.isAll()) {
      List<Integer> empty = new ArrayList<>();
      for (int queue : queues) {
        if (parked(connection, queue, "", slots, null, 1).isEmpty()) {
          empty.add(queue);
        }
      }
      queues.removeAll(empty);
    }
    return queues;
  }

  @Override
  public Page page(Connection connection, Numbers numbers, @Nullable Integer queue, int state, TaskId after, int limit,
      int scanned) throws SQLException {
    byte[] behind = Values.bytes(after);
    byte[] liveEdge = edge(connection, "foliot_task", behind, scanned);
    byte[] keptEdge = queue == null ? null : edge(connection, "foliot_final", behind, scanned);
    byte[] edge = liveEdge == null || (keptEdge != null && Arrays.compareUnsigned(keptEdge, liveEdge) < 0)
        ? keptEdge
        : liveEdge;
    String filter = " WHERE t.id > ?" + (edge == null ? "" : " AND t.id <= ?")
        + (queue == null ? "" : " AND t.queue = ?") + (state == 0 ? "" : " AND t.state = ?")
        + " ORDER BY t.id LIMIT ?";
    String live = "(SELECT " + LIVE + "t.body" + LIVE_END + " FROM foliot_task t" + filter + ")";
    String kept = "(SELECT " + KEPT + "t.body" + KEPT_END + " FROM foliot_final t" + filter + ")";
    try (PreparedStatement select = prepare(connection,
        "SELECT n.micros, r.id IS NOT NULL, r.* FROM " + now + " n LEFT JOIN (SELECT *"
            + " FROM (" + live + (queue == null ? "" : " UNION ALL " + kept) + ") y ORDER BY id LIMIT ?) r ON TRUE"
            + " ORDER BY r.id")) {
      int at = 1;
      for (int i = 0; i < (queue == null ? 1 : 2); i++) {
        select.setBytes(at++, behind);
        if (edge != null) {
          select.setBytes(at++, edge);
        }
        if (queue != null) {
          select.setInt(at++, queue);
        }
        if (state != 0) {
          select.setInt(at++, state);
        }
        select.setInt(at++, limit + 1);
      }
      select.setInt(at, limit + 1);
      return page(connection, numbers, select, limit, edge);
    }
  }

  /** The last id that is looked at, or null if there are not so many. */
  private byte @Nullable [] edge(Connection connection, String table, byte[] after, int scanned) throws SQLException {
    try (PreparedStatement select = prepare(connection,
        "SELECT id FROM " + table + " WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?")) {
      select.setBytes(1, after);
      select.setInt(2, scanned - 1);
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? row.getBytes(1) : null;
      }
    }
  }

  private Page page(Connection connection, Numbers numbers, PreparedStatement select, int limit,
      byte @Nullable [] edge) throws SQLException {
    List<Row> found = new ArrayList<>();
    long nowMicros = 0;
    try (ResultSet row = select.executeQuery()) {
      while (row.next()) {
        nowMicros = row.getLong(1);
        if (row.getBoolean(2)) {
          found.add(rows.row(connection, numbers, row, 3, true));
        }
      }
    }
    if (found.size() > limit) {
      return new Page(nowMicros, found.subList(0, limit), found.get(limit - 1).record().id());
    }
    return new Page(nowMicros, found, edge == null ? null : idOf(edge));
  }

  private static TaskId idOf(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new TaskId(buffer.getLong(), buffer.getLong());
  }

  @Override
  public boolean hasLive(Connection connection, int queue) throws SQLException {
    try (PreparedStatement select = prepare(connection,
        "SELECT 1 FROM foliot_task FORCE INDEX (foliot_task_key) WHERE queue = ? LIMIT 1")) {
      select.setInt(1, queue);
      try (ResultSet row = select.executeQuery()) {
        return row.next();
      }
    }
  }

  @Override
  public Map<Tally, Long> tally(Connection connection) throws SQLException {
    Map<Tally, Long> counts = new HashMap<>();
    try (PreparedStatement select = prepare(connection, "SELECT queue, state, part >= " + Parts.PARKED
        + ", COUNT(*) FROM foliot_task GROUP BY 1, 2, 3 UNION ALL SELECT queue, state, 0, COUNT(*) FROM foliot_final"
        + " WHERE drop_at > " + clock + " DIV 1000 GROUP BY 1, 2");
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        counts.merge(new Tally(row.getInt(1), row.getInt(2), row.getBoolean(3)), row.getLong(4), Long::sum);
      }
    }
    return counts;
  }

  @Override
  public int forgetKept(Connection connection, int limit) throws SQLException {
    return forget(connection, "foliot_final", limit);
  }

  @Override
  public int forgetAnswers(Connection connection, int limit) throws SQLException {
    return forget(connection, "foliot_request", limit);
  }

  private int forget(Connection connection, String table, int limit) throws SQLException {
    long nowMillis = Math.floorDiv(micros(connection), 1_000);
    try (PreparedStatement delete = prepare(connection,
        "DELETE FROM " + table + " WHERE drop_at <= ? ORDER BY drop_at LIMIT ?")) {
      delete.setLong(1, nowMillis);
      delete.setInt(2, limit);
      return delete.executeUpdate();
    }
  }

  @Override
  public void forgetAnswers(Connection connection, List<RequestName> names, Numbers numbers) throws SQLException {
    Values values = requests(connection, names, numbers);
    try (PreparedStatement delete = prepare(connection, "DELETE r FROM " + values.from()
        + " STRAIGHT_JOIN foliot_request r ON r.queue = x.queue AND r.`key` = x.task_key AND r.request = x.request"
        + " WHERE r.drop_at <= " + clock + " DIV 1000")) {
      int rows = execute(delete, values);
      assert rows <= names.size() : rows;
    }
  }

  @Override
  public boolean isRolledBack(SQLException e) {
    return ROLLED_BACK.contains(e.getErrorCode());
  }

  @Override
  public boolean isDuplicate(SQLException e) {
    return e.getErrorCode() == DUPLICATE;
  }

  @Override
  public boolean isFull(SQLException e) {
    return FULL.contains(e.getErrorCode());
  }

  @Override
  public boolean isReadOnly(SQLException e) {
    return READ_ONLY.contains(e.getErrorCode());
  }
}
