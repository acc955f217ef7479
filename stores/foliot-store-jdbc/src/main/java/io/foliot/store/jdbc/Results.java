package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Probed;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.batch.RequestName;
import io.foliot.store.jdbc.Dialect.RowGroup;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reader of the results of statements. The statements of all dialects return the same columns in the same order. A
 * place is the position of an item in its batch, counted from 1; the methods return positions counted from 0.
 */
final class Results {
  /** Id that no task has. It sorts before all ids of tasks. */
  static final TaskId NO_ID = new TaskId(0, 0);

  private final Rows rows;

  Results(Rows rows) {
    this.rows = rows;
  }

  TaskId id(ResultSet row, int at) throws SQLException {
    return rows.id(row, at);
  }

  /** Reads a record that begins at this column. */
  Row record(Connection connection, QueueIds numbers, ResultSet row, int first, boolean bodies) throws SQLException {
    return rows.row(connection, numbers, row, first, bodies);
  }

  /** Reads positions. Columns: place. */
  static BitSet places(ResultSet row) throws SQLException {
    BitSet places = new BitSet();
    while (row.next()) {
      places.set(row.getInt(1) - 1);
    }
    return places;
  }

  /**
   * Reads the results of touches; the result of a touch without a row is null. Columns: clock, place (0 or NULL if no
   * task was touched), id, generation, deadline, whether an attempt is outstanding.
   */
  Touched touched(ResultSet row, int count) throws SQLException {
    List<@Nullable TouchResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long micros = 0;
    while (row.next()) {
      micros = row.getLong(1);
      int place = row.getInt(2) - 1;
      if (place >= 0) {
        results.set(place, new TouchResult(
            row.getBoolean(6) ? TouchResult.Kind.RESET_PENDING : TouchResult.Kind.RESET,
            rows.id(row, 3), row.getLong(4), row.getLong(5), false));
      }
    }
    return new Touched(micros, results);
  }

  /** Reads answers to requests. Columns: place, digest, kind, id, generation, deadline, state, end of retention. */
  Map<RequestName, RecordTable.Answered> answers(ResultSet row, List<RequestName> names) throws SQLException {
    Map<RequestName, RecordTable.Answered> answers = new HashMap<>();
    while (row.next()) {
      SubmitResult result = new SubmitResult(ColumnCodes.answerKind(row.getInt(3)), rows.id(row, 4), row.getLong(5),
          row.getLong(6), ColumnCodes.answerState(row.getInt(7)), false);
      answers.put(names.get(row.getInt(1) - 1), new RecordTable.Answered(row.getLong(2), result, row.getLong(8)));
    }
    return answers;
  }

  /** Reads the results of probes. Columns: place, when the task can be claimed next, the time of its index entry. */
  static List<Probed> probed(ResultSet row, int count) throws SQLException {
    List<Probed> found = new ArrayList<>(Collections.nCopies(count, Probed.UNKNOWN));
    while (row.next()) {
      found.set(row.getInt(1) - 1, new Probed(row.getLong(2), row.getLong(3)));
    }
    return found;
  }

  /** Reads index entries into the lists of their scans. Columns: place of the scan, time of the entry, id, queue. */
  void due(Connection connection, QueueIds numbers, ResultSet row, List<List<DueEntry>> found) throws SQLException {
    while (row.next()) {
      found.get(row.getInt(1) - 1)
          .add(new DueEntry(row.getLong(2), rows.id(row, 3), numbers.name(connection, row.getInt(4))));
    }
  }

  /** Reads index entries of parked tasks. Columns: time of the entry, id. */
  List<DueEntry> parked(ResultSet row, String queue) throws SQLException {
    List<DueEntry> entries = new ArrayList<>();
    while (row.next()) {
      entries.add(new DueEntry(row.getLong(1), rows.id(row, 2), queue));
    }
    return entries;
  }

  /** Reads numbers of queues. Columns: number. */
  static List<Integer> queues(ResultSet row) throws SQLException {
    List<Integer> queues = new ArrayList<>();
    while (row.next()) {
      queues.add(row.getInt(1));
    }
    return queues;
  }

  /** Reads counts of rows. Columns: number of a queue, state, whether parked, count. */
  static Map<RowGroup, Long> tally(ResultSet row) throws SQLException {
    Map<RowGroup, Long> counts = new HashMap<>();
    while (row.next()) {
      counts.merge(new RowGroup(row.getInt(1), row.getInt(2), row.getBoolean(3)), row.getLong(4), Long::sum);
    }
    return counts;
  }

  /**
   * Returns a page of at most {@code limit} records. The statement reads up to {@code limit} + 1 records. If there are
   * {@code limit} + 1, the page ends with record {@code limit}; otherwise it ends at the edge.
   *
   * @param edge the largest id that was examined, or null if no rows follow
   */
  static Page page(long micros, List<Row> found, int limit, @Nullable TaskId edge) {
    return found.size() <= limit
        ? new Page(micros, found, edge)
        : new Page(micros, found.subList(0, limit), found.get(limit - 1).record().id());
  }
}
