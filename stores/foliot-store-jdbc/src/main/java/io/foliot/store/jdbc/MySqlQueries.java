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
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The {@link QueryStatements} of MariaDB and MySQL. */
final class MySqlQueries implements QueryStatements {
  private static final String BODY = "record.body";
  /**
   * Largest number of scans that run directly. If there are more scans, a query first reads which of their slots have
   * entries.
   */
  private static final int SCANS_AT_ONCE = 4;

  private final MySqlStatements statements;
  private final Results results;
  private final StoreClock clock;
  private final SqlFiles.Template probe;
  private final SqlFiles.Template due;
  private final SqlFiles.Template dueFirst;
  private final SqlFiles.Template parked;
  private final String parkedQueues;
  private final String edgeOfLive;
  private final String edgeOfKept;
  private final SqlFiles.Template pageOfLive;
  private final SqlFiles.Template pageOfQueue;
  private final String hasLive;
  private final String tally;
  private final String forgetKept;
  private final String forgetAnswers;

  MySqlQueries(MySqlStatements statements, Results results, StoreClock clock) {
    this.statements = statements;
    this.results = results;
    this.clock = clock;
    SqlFiles files = statements.files();
    probe = files.template("probe", "wanted");
    due = files.template("due", "place");
    dueFirst = files.template("due_first", "slots");
    parked = files.template("parked", "slots?", "slot_mask", "slots");
    parkedQueues = files.text("parked_queues");
    edgeOfLive = files.text("edge_of_live");
    edgeOfKept = files.text("edge_of_kept");
    pageOfLive = files.template("page_of_live", "body", "edge?");
    pageOfQueue = files.template("page_of_queue", "body", "edge?", "state?");
    hasLive = files.text("has_live");
    tally = files.text("tally");
    forgetKept = files.text("forget_kept");
    forgetAnswers = files.text("forget_answers");
  }

  @Override
  public List<Probed> probe(Connection connection, List<TaskId> ids) throws SQLException {
    ParameterTable values = statements.values("id");
    ids.forEach(id -> values.next().add(id));
    try (PreparedStatement select = statements.prepare(connection, probe.with("wanted", values.with()).text())) {
      values.bind(select, 1);
      try (ResultSet row = select.executeQuery()) {
        return Results.probed(row, ids.size());
      }
    }
  }

  @Override
  public List<DueSlice> due(Connection connection, QueueIds numbers, List<DueScan> scans) throws SQLException {
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

  /** Returns the positions of scans that may find entries. Reading one entry of a slot costs less than a scan. */
  private List<Integer> worthwhile(Connection connection, List<DueScan> scans) throws SQLException {
    long from = Long.MAX_VALUE;
    Set<Integer> slots = new HashSet<>();
    for (DueScan scan : scans) {
      from = Math.min(from, scan.fromWakeAt());
      slots.add(scan.slot());
    }
    String list = slots.stream().map(String::valueOf).collect(Collectors.joining(", "));
    Map<Integer, Long> first = new HashMap<>();
    try (PreparedStatement select = statements.prepare(connection, dueFirst.with("slots", list).text())) {
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

  private void scan(Connection connection, QueueIds numbers, List<DueScan> scans, List<Integer> places,
      List<List<DueEntry>> found) throws SQLException {
    try (PreparedStatement select = statements.prepare(connection, places.stream()
        .map(place -> due.with("place", place + 1).text()).collect(Collectors.joining(" UNION ALL ")))) {
      int at = 1;
      for (int place : places) {
        DueScan scan = scans.get(place);
        TaskId after = scan.after();
        select.setInt(at++, scan.slot());
        select.setLong(at++, scan.fromWakeAt());
        select.setLong(at++, scan.toWakeAt());
        select.setLong(at++, scan.fromWakeAt());
        select.setBytes(at++, ParameterTable.bytes(after == null ? Results.NO_ID : after));
        select.setInt(at++, scan.limit() == Integer.MAX_VALUE ? scan.limit() : scan.limit() + 1);
      }
      try (ResultSet row = select.executeQuery()) {
        results.due(connection, numbers, row, found);
      }
    }
  }

  private String parked(SlotSet slots) {
    // SQL permits no empty list, so the list begins with -1. No slot has this number.
    String list = IntStream.concat(IntStream.of(-1), Arrays.stream(slots.isAll() ? new int[0] : Rows.slots(slots)))
        .mapToObj(String::valueOf).collect(Collectors.joining(", "));
    return parked.when("slots", !slots.isAll()).with("slot_mask", slots.slotCount() - 1).with("slots", list).text();
  }

  @Override
  public List<DueEntry> parked(Connection connection, int queue, String name, SlotSet slots, @Nullable DueEntry after,
      int limit) throws SQLException {
    long from = after == null ? Long.MIN_VALUE : after.wakeAt();
    try (PreparedStatement select = statements.prepare(connection, parked(slots))) {
      select.setInt(1, IndexPartitions.parked(queue));
      select.setLong(2, from);
      select.setLong(3, from);
      select.setBytes(4, ParameterTable.bytes(after == null ? Results.NO_ID : after.id()));
      select.setInt(5, limit);
      try (ResultSet row = select.executeQuery()) {
        return results.parked(row, name);
      }
    }
  }

  @Override
  public List<Integer> parkedQueues(Connection connection, SlotSet slots) throws SQLException {
    List<Integer> queues;
    try (PreparedStatement select = statements.prepare(connection, parkedQueues);
        ResultSet row = select.executeQuery()) {
      queues = Results.queues(row);
    }
    if (slots.isAll()) {
      return queues;
    }
    List<Integer> some = new ArrayList<>();
    for (int queue : queues) {
      if (!parked(connection, queue, "", slots, null, 1).isEmpty()) {
        some.add(queue);
      }
    }
    return some;
  }

  @Override
  public Page pageOfLive(Connection connection, QueueIds numbers, TaskId after, int limit, int scanned)
      throws SQLException {
    TaskId edge = edge(connection, edgeOfLive, after, scanned);
    try (PreparedStatement select = statements.prepare(connection,
        pageOfLive.with("body", BODY).when("edge", edge != null).text())) {
      int at = bind(select, 1, after, edge);
      select.setInt(at, limit + 1);
      return page(connection, numbers, select, limit, edge);
    }
  }

  @Override
  public Page pageOfQueue(Connection connection, QueueIds numbers, int queue, int state, TaskId after, int limit,
      int scanned) throws SQLException {
    TaskId live = edge(connection, edgeOfLive, after, scanned);
    TaskId kept = edge(connection, edgeOfKept, after, scanned);
    TaskId edge = live == null || (kept != null && kept.compareTo(live) < 0) ? kept : live;
    try (PreparedStatement select = statements.prepare(connection,
        pageOfQueue.with("body", BODY).when("edge", edge != null).when("state", state != 0).text())) {
      int at = 1;
      for (int i = 0; i < 2; i++) {
        at = bind(select, at, after, edge);
        select.setInt(at++, queue);
        if (state != 0) {
          select.setInt(at++, state);
        }
        select.setInt(at++, limit + 1);
      }
      select.setInt(at, limit + 1);
      return page(connection, numbers, select, limit, edge);
    }
  }

  private static int bind(PreparedStatement select, int first, TaskId after, @Nullable TaskId edge)
      throws SQLException {
    int at = first;
    select.setBytes(at++, ParameterTable.bytes(after));
    if (edge != null) {
      select.setBytes(at++, ParameterTable.bytes(edge));
    }
    return at;
  }

  /** Returns the last id that a page may examine, or null if fewer than {@code scanned} ids follow {@code after}. */
  private @Nullable TaskId edge(Connection connection, String sql, TaskId after, int scanned) throws SQLException {
    try (PreparedStatement select = statements.prepare(connection, sql)) {
      select.setBytes(1, ParameterTable.bytes(after));
      select.setInt(2, scanned - 1);
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? results.id(row, 1) : null;
      }
    }
  }

  private Page page(Connection connection, QueueIds numbers, PreparedStatement select, int limit,
      @Nullable TaskId edge) throws SQLException {
    List<Row> found = new ArrayList<>();
    long nowMicros = 0;
    try (ResultSet row = select.executeQuery()) {
      while (row.next()) {
        nowMicros = row.getLong(1);
        if (row.getBoolean(2)) {
          found.add(results.record(connection, numbers, row, 3, true));
        }
      }
    }
    return Results.page(nowMicros, found, limit, edge);
  }

  @Override
  public boolean hasLive(Connection connection, int queue) throws SQLException {
    try (PreparedStatement select = statements.prepare(connection, hasLive)) {
      select.setInt(1, queue);
      try (ResultSet row = select.executeQuery()) {
        return row.next();
      }
    }
  }

  @Override
  public Map<RowGroup, Long> tally(Connection connection) throws SQLException {
    try (PreparedStatement select = statements.prepare(connection, tally); ResultSet row = select.executeQuery()) {
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
    long nowMillis = Math.floorDiv(clock.micros(connection), 1_000);
    try (PreparedStatement delete = statements.prepare(connection, sql)) {
      delete.setLong(1, nowMillis);
      delete.setInt(2, limit);
      return delete.executeUpdate();
    }
  }
}
