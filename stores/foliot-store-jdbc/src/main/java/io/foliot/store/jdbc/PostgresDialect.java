package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
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
import io.foliot.core.store.format.UnreadableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL 12 and newer. A batch is a set of arrays; each method is one statement, a read of requests excepted.
 *
 * <p>A data-modifying WITH sees the tables as they were when the statement began, and rows that another transaction had
 * locked as they are once it is over. So every condition that safety rests on is in the WHERE of the UPDATE or DELETE
 * itself, which PostgreSQL judges again on the newest version of such a row.
 *
 * <p>Conditions on the state are written {@code state + 0}: what the statistics say of a state is wrong a second later, and a
 * planner that believes that almost nothing runs reads all that runs once for each task of the batch.
 */
final class PostgresDialect implements Dialect {
  private static final String CLOCK = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

  private static final String INSERT_COLUMNS = "id, queue, key, part, wake_at, due_at, first_due_at, created_at,"
      + " changed_at, state, generation, attempt, max_attempts, cancel_requested, outstanding, version, body";
  private static final String REQUEST_COLUMNS = "queue, key, request, digest, kind, id, generation, due_at, state,"
      + " drop_at";
  private static final String FINAL_COLUMNS = "id, queue, key, state, due_at, first_due_at, created_at, changed_at,"
      + " lease_end, claimed_at, generation, attempt, max_attempts, token, settled_as, outstanding, attempts, reason,"
      + " drop_at, begun_at, detail, body";

  private static final String LIVE_END = ", NULL::text, 0::bigint, 0::bigint, NULL::text";
  private static final String KEPT = "t.id, t.queue, t.key, t.state, 0, 0::bigint, t.due_at, t.first_due_at,"
      + " t.created_at, t.changed_at, t.lease_end, t.claimed_at, t.generation, t.attempt, t.max_attempts, t.token,"
      + " t.settled_as, false, t.outstanding, 0::bigint, NULL::bytea, t.attempts, ";
  private static final String KEPT_END = ", t.reason, t.drop_at, t.begun_at, t.detail";

  /** The last 16 bits of an id, from which its slot follows. */
  private static final String SLOT_IN = "((get_byte(uuid_send(t.id), 14) << 8 | get_byte(uuid_send(t.id), 15)) & ?)"
      + " = ANY (?)";

  /** Stand before a statement, in the same round trip and the same transaction. */
  private static final String BY_INDEX = PostgresSource.planByIndex(true) + "; ";
  /** Like it, and the commit is not waited for: what it does may be lost, and is done again. */
  private static final String BY_INDEX_UNSYNCED = PostgresSource.planByIndex(true)
      + ", set_config('synchronous_commit', 'off', true); ";
  private static final String AS_ANYWHERE = PostgresSource.planByIndex(false) + "; ";

  /** Leaves alone what a newer version wrote: {@link Blobs} begins with its version. */
  private static final String KNOWN_VERSION = " AND substring(t.body FROM 1 FOR 1) <= '\\x01'::bytea"
      + " AND (t.attempts IS NULL OR substring(t.attempts FROM 1 FOR 1) <= '\\x01'::bytea)";

  private static final String DUPLICATE = "23505";
  private static final String READ_ONLY = "25006";
  private static final String FULL = "53100";
  /** Deadlock, failed serialization, lock not available: the statement took no effect and may be repeated. */
  private static final List<String> ROLLED_BACK = List.of("40P01", "40001", "55P03");

  private final int timeoutSeconds;
  private final boolean sessionsPlanByIndex;
  private final Rows rows = new PostgresRows();
  private final String micros;
  private final String insert;
  private final String insertWithRequests;
  private final String insertUnnamed;
  private final String claim;
  private final String move;
  private final String finish;
  private final String touch;
  private final String reset;
  private final String park;
  private final String tally;
  private final String forgetFinal;
  private final String forgetRequest;
  private final String clock;

  PostgresDialect(int timeoutSeconds, boolean sessionsPlanByIndex) {
    this(timeoutSeconds, sessionsPlanByIndex, CLOCK);
  }

  /**
   * With another clock.
   *
   * @param timeoutSeconds how long a statement may take
   * @param sessionsPlanByIndex as of {@link PostgresSource#plansByIndex}
   * @param clock an SQL expression: microseconds since 1970, evaluated anew wherever it stands
   */
  PostgresDialect(int timeoutSeconds, boolean sessionsPlanByIndex, String clock) {
    this.timeoutSeconds = timeoutSeconds;
    this.sessionsPlanByIndex = sessionsPlanByIndex;
    this.clock = clock;
    // The clock of a statement is read once, in microseconds, in milliseconds rounded down (now) and up (for delays).
    String now = "n AS MATERIALIZED (SELECT c.micros, c.micros / 1000 AS ms, (c.micros + 999) / 1000 AS up"
        + " FROM (SELECT " + clock + " AS micros OFFSET 0) c)";
    String nowAndFloor = "n AS MATERIALIZED (SELECT c.micros, c.micros / 1000 AS ms, (c.micros + 999) / 1000 AS up,"
        + " greatest((SELECT floor FROM foliot_clock), ?) AS floor FROM (SELECT " + clock + " AS micros OFFSET 0) c)";
    String dueAt = "CASE WHEN NOT u.relative THEN u.due WHEN u.due = 0 THEN n.ms ELSE n.up + u.due END";
    micros = "SELECT " + clock;
    insert = insert(nowAndFloor, dueAt, false);
    insertWithRequests = insert(nowAndFloor, dueAt, true);
    insertUnnamed = "WITH " + nowAndFloor + ", t AS (INSERT INTO foliot_task (" + INSERT_COLUMNS
        + ") SELECT x.id, x.queue, NULL, x.slot, x.due_at, x.due_at, x.due_at, x.ms, x.ms, 1, x.generation, 0,"
        + " x.max_attempts, false, false, 1, x.body FROM (SELECT u.*, n.ms, greatest(n.floor, n.micros) AS generation, "
        + dueAt + " AS due_at FROM n, unnest(?::uuid[], ?, ?, ?, ?, ?, ?)"
        + " AS u(id, queue, slot, due, relative, max_attempts, body)) x)"
        + " SELECT n.micros, greatest(n.floor, n.micros) FROM n";
    claim = "WITH " + now + ", w AS (UPDATE foliot_task t SET"
        + " state = CASE WHEN t.due_at <= n.ms THEN 2 ELSE 1 END,"
        + " attempt = CASE WHEN t.due_at <= n.ms THEN t.attempt + 1 ELSE t.attempt END,"
        + " token = CASE WHEN t.due_at <= n.ms THEN u.token ELSE t.token END,"
        + " settled_as = CASE WHEN t.due_at <= n.ms THEN NULL ELSE t.settled_as END,"
        + " claimed_at = CASE WHEN t.due_at <= n.ms THEN n.ms ELSE t.claimed_at END,"
        + " changed_at = CASE WHEN t.due_at <= n.ms THEN n.ms ELSE t.changed_at END,"
        + " lease_end = CASE WHEN t.due_at <= n.ms THEN n.ms + u.lease ELSE t.lease_end END,"
        + " wake_at = CASE WHEN t.due_at <= n.ms THEN n.ms + u.lease ELSE t.due_at END,"
        + " part = u.slot, version = t.version + 1"
        + " FROM n, unnest(?::uuid[], ?::uuid[], ?, ?, ?) WITH ORDINALITY AS u(id, token, lease, until, slot, place)"
        + " WHERE t.id = u.id AND t.state + 0 = 1" + KNOWN_VERSION
        + " AND (t.due_at <= n.ms AND u.lease > 0 AND n.ms <= u.until OR t.due_at > n.ms AND (t.wake_at <> t.due_at OR t.part <> u.slot))"
        + " RETURNING u.place, t.state, t.queue, t.key, t.due_at, t.lease_end, t.first_due_at, t.created_at,"
        + " t.generation, t.attempt, t.max_attempts, t.outstanding, t.attempts,"
        + " CASE WHEN t.state = 2 THEN t.body END AS body)"
        + " SELECT n.micros, w.* FROM n LEFT JOIN w ON true";
    // A row that another statement is changing is left out: it is the heartbeat of this very task, and after it there may be
    // nothing to move. Waiting for each other, a batch of moves and a batch of touches would end in a deadlock.
    move = "WITH " + now + ", l AS MATERIALIZED (SELECT u.place, u.slot, t.id FROM n,"
        + " unnest(?::uuid[], ?) WITH ORDINALITY AS u(id, slot, place) JOIN foliot_task t ON t.id = u.id"
        + " WHERE t.state + 0 = 1" + KNOWN_VERSION
        + " AND t.due_at > n.ms AND (t.wake_at <> t.due_at OR t.part <> u.slot) FOR NO KEY UPDATE OF t SKIP LOCKED),"
        + " w AS (UPDATE foliot_task t SET wake_at = t.due_at, part = l.slot, version = t.version + 1 FROM l"
        + " WHERE t.id = l.id RETURNING l.place, t.due_at)"
        + " SELECT n.micros, w.* FROM n LEFT JOIN w ON true";
    finish = "WITH " + now + ", g AS (DELETE FROM foliot_task t"
        + " USING n, unnest(?::uuid[], ?::uuid[], ?, ?, ?)"
        + " WITH ORDINALITY AS s(id, token, generation, begun_at, detail, place)"
        + " WHERE t.id = s.id AND t.state + 0 = 2 AND t.token = s.token AND t.generation = s.generation"
        + " AND t.successor IS NULL AND t.generation < n.micros"
        + " RETURNING s.place, s.begun_at, s.detail, t.id, t.queue, t.key, t.due_at, t.first_due_at, t.created_at,"
        + " t.lease_end, t.claimed_at, t.generation, t.attempt, t.max_attempts, t.token, t.outstanding, t.attempts,"
        + " t.body), f AS (INSERT INTO foliot_final (" + FINAL_COLUMNS + ") SELECT g.id, g.queue, g.key, 3, g.due_at,"
        + " g.first_due_at, g.created_at, n.ms, g.lease_end, g.claimed_at, g.generation, g.attempt, g.max_attempts,"
        + " g.token, 0, g.outstanding, g.attempts, '', n.ms + coalesce(q.millis, ?), g.begun_at, g.detail, g.body"
        + " FROM g CROSS JOIN n LEFT JOIN unnest(?, ?) AS q(queue, millis) ON q.queue = g.queue)"
        + " SELECT g.place FROM g";
    // The entry is taken along once it is nearer than five eighths of the way to the new deadline, as in TaskLife.
    String pushBack = "WITH " + nowAndFloor + ", w AS (UPDATE foliot_task t SET"
        + " wake_at = CASE WHEN t.part >= 65536 OR least(x.due_at, t.first_due_at + x.max_wait) <= n.ms THEN t.wake_at"
        + " WHEN t.wake_at <= n.ms + (least(x.due_at, t.first_due_at + x.max_wait) - n.ms) / 8 * 5"
        + " THEN least(x.due_at, t.first_due_at + x.max_wait) ELSE t.wake_at END,"
        + " due_at = least(x.due_at, t.first_due_at + x.max_wait),"
        + " generation = greatest(t.generation + 1, n.micros, n.floor), attempt = 0, version = t.version + 1%s"
        + " FROM n, (SELECT u.*, " + dueAt + " AS due_at FROM n, unnest(?, ?, ?, ?, ?%s)"
        + " WITH ORDINALITY AS u(queue, key, due, relative, max_wait%s, place)) x"
        + " WHERE t.queue = x.queue AND t.key = x.key AND t.state + 0 = 1"
        + " AND least(x.due_at, t.first_due_at + x.max_wait) >= t.wake_at"
        + " RETURNING x.place, t.id, t.generation, t.due_at, t.outstanding)"
        + " SELECT n.micros, w.* FROM n LEFT JOIN w ON true";
    touch = pushBack.formatted("", "", "");
    reset = pushBack.formatted(", body = coalesce(x.body, t.body),"
        + " max_attempts = coalesce(nullif(x.max_attempts, 0), t.max_attempts)", ", ?, ?", ", body, max_attempts");
    park = "WITH " + now + " UPDATE foliot_task t SET part = 65536 + t.queue, version = t.version + 1"
        + " FROM n, unnest(?::uuid[], ?) WITH ORDINALITY AS u(id, wake_at, place)"
        + " WHERE t.id = u.id AND t.wake_at = u.wake_at AND t.part < 65536 AND t.state + 0 = 1 AND t.due_at <= n.ms"
        + " RETURNING u.place";
    tally = "SELECT queue, state, part >= 65536, count(*) FROM foliot_task GROUP BY 1, 2, 3 UNION ALL"
        + " SELECT queue, state, false, count(*) FROM foliot_final"
        + " WHERE drop_at > (SELECT " + clock + " / 1000) GROUP BY 1, 2";
    forgetFinal = "DELETE FROM foliot_final WHERE id IN (SELECT id FROM foliot_final"
        + " WHERE drop_at <= (SELECT " + clock + " / 1000) ORDER BY drop_at LIMIT ? FOR UPDATE SKIP LOCKED)";
    forgetRequest = "DELETE FROM foliot_request WHERE (queue, key, request) IN (SELECT queue, key, request"
        + " FROM foliot_request WHERE drop_at <= (SELECT " + clock + " / 1000) ORDER BY drop_at LIMIT ?"
        + " FOR UPDATE SKIP LOCKED)";
  }

  /**
   * The version of a new row is its place in the batch, by which the answer is told. Its generation is read from the clock
   * when the row itself is made: so a key whose task ended while the batch was under way gets a larger one.
   */
  private String insert(String nowAndFloor, String dueAt, boolean requests) {
    String columns = "id, queue, key, slot, due, relative, max_attempts, body" + (requests ? ", request, digest" : "");
    return "WITH " + nowAndFloor + ", d AS (SELECT u.*, n.ms, n.floor, " + dueAt + " AS due_at FROM n,"
        + " unnest(?::uuid[], ?, ?, ?, ?, ?, ?, ?" + (requests ? ", ?, ?" : "") + ") WITH ORDINALITY AS u(" + columns
        + ", place)), t AS (INSERT INTO foliot_task (" + INSERT_COLUMNS + ") SELECT d.id, d.queue, d.key, d.slot,"
        + " d.due_at, d.due_at, d.due_at, d.ms, d.ms, 1, greatest(d.floor, " + clock + "), 0, d.max_attempts, false,"
        + " false, d.place, d.body FROM d"
        + (requests
            ? " WHERE d.request IS NULL OR NOT EXISTS (SELECT FROM foliot_request r WHERE r.queue = d.queue"
                + " AND r.key = coalesce(d.key, '') AND r.request = d.request)"
            : "")
        + " ON CONFLICT DO NOTHING RETURNING id, version, generation, due_at)"
        + (requests
            ? ", r AS (INSERT INTO foliot_request (" + REQUEST_COLUMNS + ") SELECT d.queue, coalesce(d.key, ''),"
                + " d.request, d.digest, 0, t.id, t.generation, t.due_at,"
                + " CASE WHEN t.due_at <= d.ms THEN 0 ELSE 1 END, d.ms + " + Draft.Idempotency.KEPT_MILLIS
                + " FROM t JOIN d ON d.place = t.version WHERE d.request IS NOT NULL)"
            : "")
        + " SELECT n.micros, t.version, t.generation, t.due_at, t.generation >= " + clock
        + " FROM n LEFT JOIN t ON true";
  }

  @Override
  public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setQueryTimeout(timeoutSeconds);
    return statement;
  }

  /** A statement that looks its rows up. In a caller's transaction nothing is set, for it would stay set there. */
  private PreparedStatement batch(Connection connection, String sql) throws SQLException {
    return prepare(connection, sessionsPlanByIndex || !connection.getAutoCommit() ? sql : BY_INDEX + sql);
  }

  /** A statement that only moves entries of the index. */
  private PreparedStatement unsynced(Connection connection, String sql) throws SQLException {
    return prepare(connection, BY_INDEX_UNSYNCED + sql);
  }

  /** What a statement answers; what stands before it has answered first. */
  private static ResultSet rows(PreparedStatement statement) throws SQLException {
    statement.execute();
    ResultSet first = statement.getResultSet();
    return statement.getMoreResults(Statement.KEEP_CURRENT_RESULT) ? statement.getResultSet() : first;
  }

  @Override
  public String kind() {
    return "postgresql";
  }

  @Override
  public String migrations() {
    return "classpath:io/foliot/store/jdbc/postgresql";
  }

  @Override
  public Durability durability(Connection connection) throws SQLException {
    try (PreparedStatement select = prepare(connection, "SELECT current_setting('server_version'),"
        + " current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),"
        + " (SELECT setting::int FROM pg_settings WHERE name = 'wal_writer_delay')");
        ResultSet row = select.executeQuery()) {
      row.next();
      boolean whole = row.getString(2).equals("on") && row.getString(3).equals("on");
      boolean waits = !row.getString(4).equals("off");
      String detail = "PostgreSQL " + row.getString(1) + ", fsync=" + row.getString(2) + ", full_page_writes="
          + row.getString(3) + ", synchronous_commit=" + row.getString(4);
      // What commits without waiting is synced within three rounds of the writer of the log.
      return !whole
          ? new Durability("NONE", 0, detail)
          : waits ? new Durability("D", 0, detail) : new Durability("B", 3L * row.getInt(5), detail);
    }
  }

  @Override
  public long micros(Connection connection) throws SQLException {
    try (PreparedStatement select = prepare(connection, micros); ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  @Override
  public String insertQueue() {
    return "INSERT INTO foliot_queue (name) VALUES (?) ON CONFLICT DO NOTHING";
  }

  @Override
  public void text(PreparedStatement statement, int at, String text) throws SQLException {
    statement.setString(at, text);
  }

  @Override
  public String text(ResultSet row, int at) throws SQLException {
    return row.getString(at);
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
      try (PreparedStatement statement = prepare(connection, insertUnnamed)) {
        new PostgresArrays(connection, statement).value(seenMicros).ids(ids).ints(queues).ints(slots).longs(dues)
            .flags(relative).ints(maxAttempts).blobs(bodies);
        return insertUnnamed(statement, tasks);
      } catch (SQLException e) {
        if (!isDuplicate(e)) {
          throw e;
        }
        // A caller that had no answer repeats itself: nothing was inserted, and what is not there yet is, below.
      }
    }
    try (PreparedStatement statement = anyRequest
        ? batch(connection, insertWithRequests)
        : prepare(connection, insert)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement).value(seenMicros).ids(ids).ints(queues)
          .texts(keys).ints(slots).longs(dues).flags(relative).ints(maxAttempts).blobs(bodies);
      if (anyRequest) {
        arrays.texts(requests).longs(digests);
      }
      long[] generations = new long[count];
      long[] dueAts = new long[count];
      long now = 0;
      long last = 0;
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (place >= 0) {
            generations[place] = row.getLong(3);
            dueAts[place] = row.getLong(4);
            last = row.getBoolean(5) ? Math.max(last, generations[place]) : last;
          }
        }
      }
      return new Inserted(now, generations, dueAts, last);
    }
  }

  /** All are inserted or none. Nothing else can have their names, so one reading of the clock tells all generations. */
  private static Inserted insertUnnamed(PreparedStatement statement, List<NewTask> tasks) throws SQLException {
    try (ResultSet row = rows(statement)) {
      row.next();
      long now = row.getLong(1);
      long[] generations = new long[tasks.size()];
      Arrays.fill(generations, row.getLong(2));
      long[] dueAts = tasks.stream().mapToLong(task -> task.draft().due().atMillis(now)).toArray();
      return new Inserted(now, generations, dueAts, 0);
    }
  }

  @Override
  public BitSet regenerate(Connection connection, List<NewTask> tasks, long[] generations, long generation)
      throws SQLException {
    UuidArray ids = new UuidArray(tasks.size());
    for (int i = 0; i < tasks.size(); i++) {
      ids.set(i, tasks.get(i).draft().id());
    }
    try (PreparedStatement statement = batch(connection, "UPDATE foliot_task t SET generation = ?,"
        + " version = t.version + 1 FROM unnest(?::uuid[], ?) WITH ORDINALITY AS u(id, generation, place)"
        + " WHERE t.id = u.id AND t.generation = u.generation AND t.state = 1 RETURNING u.place")) {
      new PostgresArrays(connection, statement).value(generation).ids(ids).longs(generations);
      return places(statement);
    }
  }

  @Override
  public Snapshot read(Connection connection, Numbers numbers, Wanted wanted, boolean bodies, boolean locking)
      throws SQLException {
    List<KeyName> keys = new ArrayList<>();
    List<Integer> queues = new ArrayList<>();
    for (KeyName key : wanted.keys()) {
      int queue = numbers.find(connection, key.queue());
      if (queue != Numbers.NONE) {
        keys.add(key);
        queues.add(queue);
      }
    }
    UuidArray ids = new UuidArray(wanted.ids().size());
    int at = 0;
    for (TaskId id : wanted.ids()) {
      ids.set(at++, id);
    }
    int[] queueArray = queues.stream().mapToInt(Integer::intValue).toArray();
    String[] keyArray = keys.stream().map(KeyName::key).toArray(String[]::new);
    boolean byId = !wanted.ids().isEmpty();
    try (PreparedStatement statement = batch(connection, read(byId, !keys.isEmpty(), bodies))) {
      PostgresArrays arrays = new PostgresArrays(connection, statement);
      for (int i = 0; byId && i < 2; i++) {
        arrays.ids(ids);
      }
      for (int i = 0; !keys.isEmpty() && i < 2; i++) {
        arrays.ints(queueArray).texts(keyArray);
      }
      List<Row> found = new ArrayList<>();
      long now = 0;
      long floor = 0;
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          floor = row.getLong(2);
          if (row.getObject(3) != null) {
            found.add(rows.row(connection, numbers, row, 3, bodies));
          }
        }
      }
      return new Snapshot(now, floor, found, answers(connection, numbers, wanted));
    }
  }

  private String read(boolean byId, boolean byKey, boolean bodies) {
    String body = bodies ? "t.body" : "NULL::bytea";
    String live = "SELECT " + Rows.LIVE + body + LIVE_END;
    String kept = "SELECT " + KEPT + body + KEPT_END;
    List<String> parts = new ArrayList<>();
    if (byId) {
      parts.add(live + " FROM unnest(?::uuid[]) AS u(id) JOIN foliot_task t ON t.id = u.id");
      parts.add(kept + " FROM unnest(?::uuid[]) AS u(id) JOIN foliot_final t ON t.id = u.id");
    }
    if (byKey) {
      parts.add(live + " FROM unnest(?, ?) AS u(queue, key)"
          + " JOIN foliot_task t ON t.queue = u.queue AND t.key = u.key");
      parts.add(kept + " FROM unnest(?, ?) AS u(queue, key) CROSS JOIN LATERAL (SELECT * FROM foliot_final f"
          + " WHERE f.queue = u.queue AND f.key = u.key ORDER BY f.generation DESC LIMIT 1) t");
    }
    if (parts.isEmpty()) {
      parts.add(live + " FROM foliot_task t WHERE false");
    }
    return "SELECT n.micros, n.floor, r.* FROM (SELECT " + clock + " AS micros, (SELECT floor FROM foliot_clock)"
        + " AS floor) n LEFT JOIN (" + String.join(" UNION ALL ", parts) + ") r ON true";
  }

  private Map<RequestName, RecordTable.Answered> answers(Connection connection, Numbers numbers, Wanted wanted)
      throws SQLException {
    if (wanted.requests().isEmpty()) {
      return Map.of();
    }
    List<RequestName> names = List.copyOf(wanted.requests());
    int[] queues = new int[names.size()];
    String[] keys = new String[names.size()];
    String[] requests = new String[names.size()];
    for (int i = 0; i < names.size(); i++) {
      String key = names.get(i).key();
      queues[i] = numbers.find(connection, names.get(i).queue());
      keys[i] = key == null ? "" : key;
      requests[i] = names.get(i).request();
    }
    Map<RequestName, RecordTable.Answered> answers = new HashMap<>();
    try (PreparedStatement select = batch(connection, "SELECT u.place, r.digest, r.kind, r.id, r.generation,"
        + " r.due_at, r.state, r.drop_at FROM unnest(?, ?, ?) WITH ORDINALITY AS u(queue, key, request, place)"
        + " JOIN foliot_request r ON r.queue = u.queue AND r.key = u.key AND r.request = u.request")) {
      new PostgresArrays(connection, select).ints(queues).texts(keys).texts(requests);
      try (ResultSet row = rows(select)) {
        while (row.next()) {
          SubmitResult result = new SubmitResult(Codes.answerKind(row.getInt(3)), PostgresRows.idOf(row, 4),
              row.getLong(5), row.getLong(6), Codes.answerState(row.getInt(7)), false);
          answers.put(names.get(row.getInt(1) - 1),
              new RecordTable.Answered(row.getLong(2), result, row.getLong(8)));
        }
      }
    }
    return answers;
  }

  @Override
  public BitSet update(Connection connection, List<Change> changes, List<NewAnswer> answers) throws SQLException {
    String update = "UPDATE foliot_task t SET wake_at = u.wake_at, due_at = u.due_at, first_due_at = u.first_due_at,"
        + " changed_at = u.changed_at, generation = u.generation, version = t.version + 1,"
        + " lease_end = nullif(u.lease_end, 0), claimed_at = nullif(u.claimed_at, 0), part = u.part,"
        + " attempt = u.attempt, max_attempts = u.max_attempts, state = u.state,"
        + " settled_as = nullif(u.settled_as, -1), cancel_requested = u.cancel_requested,"
        + " outstanding = u.outstanding, token = u.token, successor = u.successor, attempts = u.attempts,"
        + " body = coalesce(u.body, t.body) FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?,"
        + " ?::uuid[], ?) WITH ORDINALITY AS u(wake_at, due_at, first_due_at, changed_at, generation, lease_end,"
        + " claimed_at, part, attempt, max_attempts, state, settled_as, cancel_requested, outstanding, token,"
        + " successor, attempts, body, id, version, place)"
        + " WHERE t.id = u.id AND t.version = u.version RETURNING u.place";
    String all = answers.isEmpty()
        ? update
        : "WITH w AS (" + update + "), r AS (INSERT INTO foliot_request (" + REQUEST_COLUMNS + ") SELECT a.queue,"
            + " a.key, a.request, a.digest, a.kind, a.id, a.generation, a.due_at, a.state, a.drop_at"
            + " FROM unnest(?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?, ?) AS a(queue, key, request, digest, kind, id,"
            + " generation, due_at, state, drop_at, change)"
            + " WHERE a.change = 0 OR a.change IN (SELECT place FROM w)) SELECT place FROM w";
    try (PreparedStatement statement = batch(connection, all)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement);
      PostgresColumns columns = new PostgresColumns(changes);
      arrays.longs(columns.wakeAt).longs(columns.dueAt).longs(columns.firstDueAt).longs(columns.changedAt)
          .longs(columns.generation).longs(columns.leaseEnd).longs(columns.claimedAt).ints(columns.part)
          .ints(columns.attempt).ints(columns.maxAttempts).ints(columns.state).ints(columns.settledAs)
          .flags(columns.cancelRequested).flags(columns.outstanding).ids(columns.token).blobs(columns.successor)
          .blobs(columns.attempts).blobs(columns.body).ids(columns.id).longs(columns.version);
      if (!answers.isEmpty()) {
        bind(arrays, answers);
      }
      return places(statement);
    }
  }

  private static void bind(PostgresArrays arrays, List<NewAnswer> answers) throws SQLException {
    int count = answers.size();
    int[] queues = new int[count];
    String[] keys = new String[count];
    String[] requests = new String[count];
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
      String key = answer.name().key();
      queues[i] = answer.queue();
      keys[i] = key == null ? "" : key;
      requests[i] = answer.name().request();
      digests[i] = answer.answered().digest();
      kinds[i] = Codes.of(result.kind());
      ids.set(i, result.id());
      generations[i] = result.generation();
      dueAts[i] = result.dueAt();
      states[i] = Codes.ofAnswer(result.state());
      dropAts[i] = answer.answered().dropAt();
      changes[i] = answer.change() + 1;
    }
    arrays.ints(queues).texts(keys).texts(requests).longs(digests).ints(kinds).ids(ids).longs(generations)
        .longs(dueAts).ints(states).longs(dropAts).ints(changes);
  }

  private static BitSet places(PreparedStatement statement) throws SQLException {
    BitSet places = new BitSet();
    try (ResultSet row = rows(statement)) {
      while (row.next()) {
        places.set(row.getInt(1) - 1);
      }
    }
    return places;
  }

  @Override
  public BitSet end(Connection connection, List<Change> changes) throws SQLException {
    try (PreparedStatement statement = batch(connection, "WITH g AS (DELETE FROM foliot_task t"
        + " USING unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?::uuid[], ?) WITH ORDINALITY AS"
        + " u(due_at, first_due_at, changed_at, generation, drop_at, lease_end, claimed_at, attempt, max_attempts,"
        + " state, settled_as, outstanding, token, reason, attempts, body, id, version, place)"
        + " WHERE t.id = u.id AND t.version = u.version RETURNING u.*, t.queue, t.key, t.created_at,"
        + " t.body AS old_body), f AS (INSERT INTO foliot_final (" + FINAL_COLUMNS + ") SELECT g.id, g.queue, g.key,"
        + " g.state, g.due_at, g.first_due_at, g.created_at, g.changed_at, nullif(g.lease_end, 0),"
        + " nullif(g.claimed_at, 0), g.generation, g.attempt, g.max_attempts, g.token, nullif(g.settled_as, -1),"
        + " g.outstanding, g.attempts, g.reason, g.drop_at, NULL, NULL, coalesce(g.body, g.old_body) FROM g)"
        + " SELECT place FROM g")) {
      PostgresColumns columns = new PostgresColumns(changes);
      long[] dropAts = changes.stream().mapToLong(change -> change.after().dropAt()).toArray();
      String[] reasons = changes.stream().map(change -> plain(change.after().reason())).toArray(String[]::new);
      new PostgresArrays(connection, statement).longs(columns.dueAt).longs(columns.firstDueAt)
          .longs(columns.changedAt).longs(columns.generation).longs(dropAts).longs(columns.leaseEnd)
          .longs(columns.claimedAt).ints(columns.attempt).ints(columns.maxAttempts).ints(columns.state)
          .ints(columns.settledAs).flags(columns.outstanding).ids(columns.token).texts(reasons)
          .blobs(columns.attempts).blobs(columns.body).ids(columns.id).longs(columns.version);
      return places(statement);
    }
  }

  @Override
  public BitSet setAside(Connection connection, List<Unreadable> rows) throws SQLException {
    UuidArray ids = new UuidArray(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      ids.set(i, rows.get(i).id());
    }
    // The bytes of a successor have no column there; behind those of the attempts nothing is lost.
    try (PreparedStatement statement = batch(connection, "WITH g AS (DELETE FROM foliot_task t"
        + " USING unnest(?::uuid[], ?, ?, ?) WITH ORDINALITY AS u(id, version, reason, kept, place)"
        + " WHERE t.id = u.id AND t.version = u.version RETURNING u.place, u.reason, u.kept, t.*), f AS"
        + " (INSERT INTO foliot_final (" + FINAL_COLUMNS + ") SELECT g.id, g.queue, g.key, 4, g.due_at,"
        + " g.first_due_at, g.created_at, n.ms, g.lease_end, g.claimed_at, g.generation, g.attempt, g.max_attempts,"
        + " g.token, NULL, g.outstanding, CASE WHEN g.successor IS NULL THEN g.attempts"
        + " ELSE coalesce(g.attempts, '') || g.successor END, g.reason, n.ms + g.kept, " + Rows.SET_ASIDE
        + ", NULL, g.body FROM g CROSS JOIN (SELECT " + clock + " / 1000 AS ms) n) SELECT place FROM g")) {
      new PostgresArrays(connection, statement).ids(ids).longs(rows.stream().mapToLong(Unreadable::version).toArray())
          .texts(rows.stream().map(row -> plain(row.reason())).toArray(String[]::new))
          .longs(rows.stream().mapToLong(Unreadable::keptMillis).toArray());
      return places(statement);
    }
  }

  /** The type text holds every character but this one. */
  private static String plain(String text) {
    return text.replace('\0', ' ');
  }

  @Override
  public BitSet enter(Connection connection, List<Change> changes) throws SQLException {
    try (PreparedStatement statement = batch(connection, "WITH a AS (INSERT INTO foliot_task"
        + " (wake_at, due_at, first_due_at, created_at, changed_at, generation, version, lease_end, claimed_at, queue,"
        + " part, attempt, max_attempts, state, settled_as, cancel_requested, outstanding, id, token, key, body,"
        + " successor, attempts) SELECT u.wake_at, u.due_at, u.first_due_at, u.created_at, u.changed_at,"
        + " u.generation, u.place, nullif(u.lease_end, 0), nullif(u.claimed_at, 0), u.queue, u.part, u.attempt,"
        + " u.max_attempts, u.state, nullif(u.settled_as, -1), u.cancel_requested, u.outstanding, u.id, u.token,"
        + " u.key, coalesce(u.body, f.body), u.successor, u.attempts FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        + " ?, ?, ?, ?, ?::uuid[], ?::uuid[], ?, ?, ?, ?, ?) WITH ORDINALITY AS u(wake_at, due_at, first_due_at,"
        + " created_at, changed_at, generation, lease_end, claimed_at, queue, part, attempt, max_attempts, state,"
        + " settled_as, cancel_requested, outstanding, id, token, key, body, successor, attempts, was, place)"
        + " LEFT JOIN foliot_final f ON f.id = u.id AND f.generation = u.was"
        + " WHERE u.was = 0 OR (f.id IS NOT NULL AND NOT EXISTS (SELECT FROM foliot_final x WHERE x.queue = u.queue"
        + " AND x.key = u.key AND x.generation >= u.generation)) ON CONFLICT DO NOTHING RETURNING id, version), g AS (DELETE FROM"
        + " foliot_final f USING a WHERE f.id = a.id) SELECT version FROM a")) {
      PostgresColumns columns = new PostgresColumns(changes);
      long[] createdAts = changes.stream().mapToLong(change -> change.after().createdAt()).toArray();
      int[] queues = changes.stream().mapToInt(Change::queue).toArray();
      @Nullable
      String[] keys = changes.stream().map(change -> change.after().key()).toArray(String[]::new);
      long[] was = changes.stream()
          .mapToLong(change -> change.before() == null ? 0 : change.before().generation()).toArray();
      new PostgresArrays(connection, statement).longs(columns.wakeAt).longs(columns.dueAt).longs(columns.firstDueAt)
          .longs(createdAts).longs(columns.changedAt).longs(columns.generation).longs(columns.leaseEnd)
          .longs(columns.claimedAt).ints(queues).ints(columns.part).ints(columns.attempt).ints(columns.maxAttempts)
          .ints(columns.state).ints(columns.settledAs).flags(columns.cancelRequested).flags(columns.outstanding)
          .ids(columns.id).ids(columns.token).texts(keys).blobs(columns.body).blobs(columns.successor)
          .blobs(columns.attempts).longs(was);
      return places(statement);
    }
  }

  @Override
  public Claimed claim(Connection connection, Numbers numbers, List<NewClaim> claims, int slotCount)
      throws SQLException {
    int count = claims.size();
    UuidArray ids = new UuidArray(count);
    UuidArray tokens = new UuidArray(count);
    long[] leases = new long[count];
    long[] untils = new long[count];
    int[] slots = new int[count];
    for (int i = 0; i < count; i++) {
      NewClaim claim = claims.get(i);
      ids.set(i, claim.id());
      tokens.set(i, claim.token());
      leases[i] = claim.leaseMillis();
      untils[i] = claim.notAfterMillis();
      slots[i] = claim.slot();
    }
    List<@Nullable ClaimResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long now = 0;
    try (PreparedStatement statement = batch(connection, claim)) {
      new PostgresArrays(connection, statement).ids(ids).ids(tokens).longs(leases).longs(untils).ints(slots);
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (place >= 0) {
            results.set(place, row.getInt(3) == Codes.RUNNING
                ? won(connection, numbers, row, claims.get(place), Math.floorDiv(now, 1_000))
                : new ClaimResult.Later(row.getLong(6)));
          }
        }
      }
    }
    return new Claimed(now, results);
  }

  @Override
  public Claimed look(Connection connection, Numbers numbers, List<NewClaim> looks, int slotCount)
      throws SQLException {
    int count = looks.size();
    UuidArray ids = new UuidArray(count);
    int[] slots = new int[count];
    for (int i = 0; i < count; i++) {
      ids.set(i, looks.get(i).id());
      slots[i] = looks.get(i).slot();
    }
    List<@Nullable ClaimResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long now = 0;
    try (PreparedStatement statement = unsynced(connection, move)) {
      new PostgresArrays(connection, statement).ids(ids).ints(slots);
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (place >= 0) {
            results.set(place, new ClaimResult.Later(row.getLong(3)));
          }
        }
      }
    }
    return new Claimed(now, results);
  }

  /** Null for what cannot be read: the general way sets it aside. */
  private static @Nullable ClaimResult won(Connection connection, Numbers numbers, ResultSet row, NewClaim claim,
      long nowMillis) throws SQLException {
    try {
      return new ClaimResult.Won(task(connection, numbers, row, claim, nowMillis));
    } catch (UnreadableException e) {
      return null;
    }
  }

  private static TaskRecord task(Connection connection, Numbers numbers, ResultSet row, NewClaim claim, long nowMillis)
      throws SQLException {
    TaskId id = claim.id();
    long leaseEnd = row.getLong(7);
    return TaskRecord.edit(id, numbers.name(connection, row.getInt(4)), row.getString(5)).state(TaskState.RUNNING)
        .token(claim.token()).dueAt(row.getLong(6)).wakeAt(leaseEnd).leaseEnd(leaseEnd).firstDueAt(row.getLong(8))
        .createdAt(row.getLong(9)).changedAt(nowMillis).claimedAt(nowMillis).generation(row.getLong(10))
        .attempt(row.getInt(11)).maxAttempts(row.getInt(12)).outstanding(row.getBoolean(13))
        .attempts(Blobs.attempts(id, row.getBytes(14))).body(Blobs.body(id, row.getString(5), row.getBytes(15))).done();
  }

  @Override
  public BitSet finish(Connection connection, List<Settlement> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException {
    int count = settlements.size();
    UuidArray ids = new UuidArray(count);
    UuidArray tokens = new UuidArray(count);
    long[] generations = new long[count];
    long[] begunAts = new long[count];
    String[] details = new String[count];
    for (int i = 0; i < count; i++) {
      Settlement settlement = settlements.get(i);
      ids.set(i, settlement.id());
      tokens.set(i, settlement.token());
      generations[i] = settlement.generation();
      begunAts[i] = settlement.begunAt();
      details[i] = plain(Rows.cut(settlement.detail()));
    }
    try (PreparedStatement statement = batch(connection, finish)) {
      new PostgresArrays(connection, statement).ids(ids).ids(tokens).longs(generations).longs(begunAts).texts(details)
          .value(otherRetentionMillis).ints(retentions.stream().mapToInt(Retention::queue).toArray())
          .longs(retentions.stream().mapToLong(Retention::millis).toArray());
      return places(statement);
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
    List<@Nullable TouchResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long now = 0;
    try (PreparedStatement statement = batch(connection, resets ? reset : touch)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement).value(seenMicros).ints(queues).texts(keys)
          .longs(dues).flags(relative).longsOrNulls(maxWaits);
      if (resets) {
        arrays.blobs(bodies).ints(maxAttempts);
      }
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (place >= 0) {
            results.set(place, new TouchResult(
                row.getBoolean(6) ? TouchResult.Kind.RESET_PENDING : TouchResult.Kind.RESET,
                PostgresRows.idOf(row, 3), row.getLong(4), row.getLong(5), false));
          }
        }
      }
    }
    return new Touched(now, results);
  }

  @Override
  public BitSet park(Connection connection, List<DueEntry> entries) throws SQLException {
    UuidArray ids = new UuidArray(entries.size());
    for (int i = 0; i < entries.size(); i++) {
      ids.set(i, entries.get(i).id());
    }
    try (PreparedStatement statement = batch(connection, park)) {
      new PostgresArrays(connection, statement).ids(ids)
          .longs(entries.stream().mapToLong(DueEntry::wakeAt).toArray());
      return places(statement);
    }
  }

  @Override
  public List<Probed> probe(Connection connection, List<TaskId> ids) throws SQLException {
    UuidArray array = new UuidArray(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      array.set(i, ids.get(i));
    }
    List<Probed> found = new ArrayList<>(Collections.nCopies(ids.size(), Probed.UNKNOWN));
    try (PreparedStatement statement = batch(connection, "SELECT u.place, CASE WHEN t.state = 2 THEN t.lease_end"
        + " ELSE t.due_at END, t.wake_at FROM unnest(?::uuid[]) WITH ORDINALITY AS u(id, place)"
        + " JOIN foliot_task t ON t.id = u.id")) {
      new PostgresArrays(connection, statement).ids(array);
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          found.set(row.getInt(1) - 1, new Probed(row.getLong(2), row.getLong(3)));
        }
      }
    }
    return found;
  }

  @Override
  public List<DueSlice> due(Connection connection, Numbers numbers, List<DueScan> scans) throws SQLException {
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
      after.set(i, behind == null ? NO_ID : behind);
      to[i] = scan.toWakeAt();
      limits[i] = scan.limit() == Integer.MAX_VALUE ? scan.limit() : scan.limit() + 1;
      found.add(new ArrayList<>());
    }
    try (PreparedStatement statement = batch(connection, "SELECT s.place, e.wake_at, e.id, e.queue"
        + " FROM unnest(?, ?, ?::uuid[], ?, ?) WITH ORDINALITY AS s(part, lowest, behind, highest, most, place)"
        + " CROSS JOIN LATERAL (SELECT t.wake_at, t.id, t.queue FROM foliot_task t WHERE t.part = s.part"
        + " AND (t.wake_at, t.id) > (s.lowest, s.behind) AND t.wake_at <= s.highest"
        + " ORDER BY t.wake_at, t.id LIMIT s.most) e ORDER BY s.place, e.wake_at, e.id")) {
      new PostgresArrays(connection, statement).ints(parts).longs(from).ids(after).longs(to).ints(limits);
      try (ResultSet row = rows(statement)) {
        while (row.next()) {
          found.get(row.getInt(1) - 1).add(new DueEntry(row.getLong(2), PostgresRows.idOf(row, 3),
              numbers.name(connection, row.getInt(4))));
        }
      }
    }
    return Rows.slices(scans, found);
  }

  /** Before all ids, and none. */
  private static final TaskId NO_ID = new TaskId(0, 0);

  @Override
  public List<DueEntry> parked(Connection connection, int queue, String name, SlotSet slots, @Nullable DueEntry after,
      int limit) throws SQLException {
    String filter = slots.isAll() ? "" : " AND " + SLOT_IN;
    TaskId behind = after == null ? NO_ID : after.id();
    try (PreparedStatement statement = prepare(connection, "SELECT t.wake_at, t.id FROM foliot_task t"
        + " WHERE t.part = ? AND (t.wake_at, t.id) > (?, ?)" + filter + " ORDER BY t.wake_at, t.id LIMIT ?")) {
      statement.setInt(1, Parts.parked(queue));
      statement.setLong(2, after == null ? Long.MIN_VALUE : after.wakeAt());
      statement.setObject(3, new UUID(behind.high(), behind.low()));
      int at = bind(statement, 4, slots);
      statement.setInt(at, limit);
      List<DueEntry> entries = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          entries.add(new DueEntry(row.getLong(1), PostgresRows.idOf(row, 2), name));
        }
      }
      return entries;
    }
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
    String filter = slots.isAll()
        ? ""
        : " AND EXISTS (SELECT FROM foliot_task t WHERE t.part = p.part AND " + SLOT_IN + ")";
    try (PreparedStatement statement = prepare(connection, "WITH RECURSIVE p AS ((SELECT part FROM foliot_task"
        + " WHERE part >= 65536 ORDER BY part LIMIT 1) UNION ALL SELECT (SELECT t.part FROM foliot_task t"
        + " WHERE t.part > p.part ORDER BY t.part LIMIT 1) FROM p WHERE p.part IS NOT NULL)"
        + " SELECT p.part - 65536 FROM p WHERE p.part IS NOT NULL" + filter)) {
      bind(statement, 1, slots);
      List<Integer> queues = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          queues.add(row.getInt(1));
        }
      }
      return queues;
    }
  }

  @Override
  public Page page(Connection connection, Numbers numbers, @Nullable Integer queue, int state, TaskId after, int limit,
      int scanned) throws SQLException {
    String filter = (queue == null ? "" : " AND t.queue = ?") + (state == 0 ? "" : " AND t.state = ?");
    String live = "SELECT " + Rows.LIVE + "t.body" + LIVE_END
        + " FROM foliot_task t, h WHERE t.id > ? AND t.id <= h.upto" + filter;
    String kept = "SELECT " + KEPT + "t.body" + KEPT_END
        + " FROM foliot_final t, h WHERE t.id > ? AND t.id <= h.upto" + filter;
    String nth = "(SELECT id FROM %s WHERE id > ? ORDER BY id OFFSET ? LIMIT 1)";
    String sql = "WITH h AS MATERIALIZED (SELECT " + clock + " AS micros, e.id, coalesce(e.id,"
        + " 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS upto FROM (SELECT "
        + (queue == null
            ? nth.formatted("foliot_task")
            : "least(" + nth.formatted("foliot_task") + ", " + nth.formatted("foliot_final") + ")")
        + " AS id) e) SELECT h.micros, h.id AS edge, r.* FROM h LEFT JOIN (SELECT * FROM (" + live
        + (queue == null ? "" : " UNION ALL " + kept) + ") x ORDER BY x.id LIMIT ?) r ON true ORDER BY r.id";
    try (PreparedStatement statement = prepare(connection, sql)) {
      UUID behind = new UUID(after.high(), after.low());
      int at = 1;
      for (int i = 0; i < (queue == null ? 1 : 2); i++) {
        statement.setObject(at++, behind);
        statement.setInt(at++, scanned - 1);
      }
      for (int i = 0; i < (queue == null ? 1 : 2); i++) {
        statement.setObject(at++, behind);
        if (queue != null) {
          statement.setInt(at++, queue);
        }
        if (state != 0) {
          statement.setInt(at++, state);
        }
      }
      statement.setInt(at, limit + 1);
      return page(connection, numbers, statement, limit);
    }
  }

  private Page page(Connection connection, Numbers numbers, PreparedStatement statement, int limit)
      throws SQLException {
    List<Row> found = new ArrayList<>();
    TaskId end = null;
    long now = 0;
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        now = row.getLong(1);
        end = row.getObject(2) == null ? null : PostgresRows.idOf(row, 2);
        if (row.getObject(3) != null) {
          found.add(rows.row(connection, numbers, row, 3, true));
        }
      }
    }
    return found.size() <= limit
        ? new Page(now, found, end)
        : new Page(now, found.subList(0, limit), found.get(limit - 1).record().id());
  }

  @Override
  public boolean hasLive(Connection connection, int queue) throws SQLException {
    String some = "EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS %s)";
    try (PreparedStatement select = batch(connection,
        "SELECT " + some.formatted("NULL") + " OR " + some.formatted("NOT NULL"))) {
      select.setInt(1, queue);
      select.setInt(2, queue);
      try (ResultSet row = rows(select)) {
        return row.next() && row.getBoolean(1);
      }
    }
  }

  @Override
  public Map<Tally, Long> tally(Connection connection) throws SQLException {
    Map<Tally, Long> counts = new HashMap<>();
    // It does read the whole table.
    try (PreparedStatement select = prepare(connection, sessionsPlanByIndex ? AS_ANYWHERE + tally : tally);
        ResultSet row = rows(select)) {
      while (row.next()) {
        counts.merge(new Tally(row.getInt(1), row.getInt(2), row.getBoolean(3)), row.getLong(4), Long::sum);
      }
    }
    return counts;
  }

  @Override
  public int forgetKept(Connection connection, int limit) throws SQLException {
    return forget(connection, forgetFinal, limit);
  }

  @Override
  public int forgetAnswers(Connection connection, int limit) throws SQLException {
    return forget(connection, forgetRequest, limit);
  }

  private int forget(Connection connection, String sql, int limit) throws SQLException {
    try (PreparedStatement delete = prepare(connection, sql)) {
      delete.setInt(1, limit);
      return delete.executeUpdate();
    }
  }

  @Override
  public void forgetAnswers(Connection connection, List<RequestName> names, Numbers numbers) throws SQLException {
    try (PreparedStatement delete = prepare(connection, "DELETE FROM foliot_request r"
        + " USING unnest(?, ?, ?) AS u(queue, key, request) WHERE r.queue = u.queue AND r.key = u.key"
        + " AND r.request = u.request AND r.drop_at <= (SELECT " + clock + " / 1000)")) {
      new PostgresArrays(connection, delete)
          .ints(names.stream().mapToInt(name -> numbers.of(name.queue())).toArray())
          .texts(names.stream().map(name -> name.key() == null ? "" : name.key()).toArray(String[]::new))
          .texts(names.stream().map(RequestName::request).toArray(String[]::new));
      delete.executeUpdate();
    }
  }

  @Override
  public boolean isRolledBack(SQLException e) {
    return ROLLED_BACK.contains(e.getSQLState());
  }

  @Override
  public boolean isDuplicate(SQLException e) {
    return DUPLICATE.equals(e.getSQLState());
  }

  @Override
  public boolean isFull(SQLException e) {
    return FULL.equals(e.getSQLState());
  }

  @Override
  public boolean isReadOnly(SQLException e) {
    return READ_ONLY.equals(e.getSQLState());
  }
}
