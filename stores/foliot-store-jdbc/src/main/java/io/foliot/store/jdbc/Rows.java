package io.foliot.store.jdbc;

import io.foliot.core.Body;
import io.foliot.core.Limits;
import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.EnumCodes;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A decoder of rows into records. The rows of live and of kept tasks are read as the same columns, in one order. */
abstract class Rows {
  /** Placeholder for a payload that was not read. It is never examined, and never written back. */
  static final Body UNREAD = new Body(new byte[0], "application/x-foliot-unread", Map.of());

  /** Returns the body of a draft's new task. */
  static Body bodyOf(Draft draft) {
    return draft.body() == null ? Body.EMPTY : draft.body();
  }

  /** Returns a detail, cut to the length that an attempt record keeps. */
  static String cut(String detail) {
    return detail.length() > AttemptRecord.MAX_DETAIL ? detail.substring(0, AttemptRecord.MAX_DETAIL) : detail;
  }

  /** Returns how long finished tasks are kept, in milliseconds, bounded so that a time plus it does not overflow. */
  static long retention(QueueTerms terms) {
    return Math.min(terms.retainFinishedMillis(), Limits.MAX_DELAY_MILLIS);
  }

  static int[] slots(SlotSet slots) {
    int[] numbers = new int[slots.size()];
    int slot = -1;
    for (int i = 0; i < numbers.length; i++) {
      slot = slots.next(slot + 1);
      numbers[i] = slot;
    }
    return numbers;
  }

  /** Returns the results of scans, each of which has read one entry more than its limit, if there is one. */
  static List<DueSlice> slices(List<DueScan> scans, List<List<DueEntry>> found) {
    List<DueSlice> slices = new ArrayList<>(scans.size());
    for (int i = 0; i < scans.size(); i++) {
      DueScan scan = scans.get(i);
      List<DueEntry> entries = found.get(i);
      boolean more = entries.size() > scan.limit();
      slices.add(new DueSlice(scan.slot(), more ? entries.subList(0, scan.limit()) : entries, more));
    }
    return slices;
  }

  abstract TaskId id(ResultSet row, int at) throws SQLException;

  abstract @Nullable Token token(ResultSet row, int at) throws SQLException;

  abstract String text(ResultSet row, int at) throws SQLException;

  abstract @Nullable String textOrNull(ResultSet row, int at) throws SQLException;

  abstract byte @Nullable [] bytesOrNull(ResultSet row, int at) throws SQLException;

  /** Value of {@code begun_at} of a kept task that was set aside: its columns are not decoded. */
  static final long SET_ASIDE = -1;

  /**
   * Returns the row whose record begins at this column. If the record cannot be decoded, the row has the damage and the
   * values of the columns: one bad row must not fail the others of its statement.
   *
   * @param bodies whether the statement has read payloads; a missing payload is then damage
   */
  final Row row(Connection connection, QueueIds numbers, ResultSet row, int first, boolean bodies) throws SQLException {
    long version = row.getLong(first + 19);
    if (!Row.isLive(version) && row.getLong(first + 25) == SET_ASIDE) {
      return new Row(columns(connection, numbers, row, first, TaskState.FAILED, text(row, first + 23)), version);
    }
    try {
      TaskRecord record = record(connection, numbers, row, first);
      if (bodies && record.body() == UNREAD) {
        throw new DamagedException("its payload is missing: task=" + record.id(), null);
      }
      return new Row(record, version);
    } catch (UnreadableException e) {
      return new Row(unreadable(connection, numbers, row, first, e), version, e);
    }
  }

  private TaskRecord record(Connection connection, QueueIds numbers, ResultSet row, int first) throws SQLException {
    TaskId id = id(row, first);
    String key = textOrNull(row, first + 2);
    TaskState state = EnumCodes.state(row.getInt(first + 3));
    TaskRecord.Edit edit = TaskRecord.edit(id, numbers.name(connection, row.getInt(first + 1)), key);
    edit.state(state).parked(row.getInt(first + 4) >= IndexPartitions.PARKED);
    ensurePossible(id, state, row, first);
    readTimes(edit, row, first);
    readClaim(edit, row, first);
    readContent(edit, id, key, row, first);
    Blobs.History history = Blobs.history(id, bytesOrNull(row, first + 21));
    List<AttemptRecord> attempts = history.attempts();
    if (state.isFinal()) {
      attempts = withLast(attempts, row, first);
      edit.reason(text(row, first + 23)).dropAt(row.getLong(first + 24));
    }
    return edit.attempts(attempts).noted(history.noted()).done();
  }

  /** Ensures that the columns of a row do not contradict each other; no writer leaves such a row. */
  private void ensurePossible(TaskId id, TaskState state, ResultSet row, int first) throws SQLException {
    boolean possible = switch (state) {
      case RUNNING -> token(row, first + 15) != null && row.getLong(first + 5) <= row.getLong(first + 10);
      case DELAYED -> row.getLong(first + 5) <= row.getLong(first + 6) && bytesOrNull(row, first + 20) == null
          && !row.getBoolean(first + 17);
      case READY -> false;
      default -> true;
    };
    if (!possible || state.isFinal() == Row.isLive(row.getLong(first + 19))) {
      throw new MalformedException("its columns contradict each other: task=" + id + ", state=" + state, null);
    }
  }

  /** Returns the record of a damaged row: only the values of its columns. */
  private TaskRecord unreadable(Connection connection, QueueIds numbers, ResultSet row, int first,
      UnreadableException why)
      throws SQLException {
    boolean live = Row.isLive(row.getLong(first + 19));
    TaskState state = ColumnCodes.stateOrFailed(row.getInt(first + 3));
    // A live damaged record is about to be set aside.
    return columns(connection, numbers, row, first,
        live == state.isFinal() || (live && !(why instanceof NewerVersionException))
            ? TaskState.FAILED
            : state,
        why.getMessage() + "");
  }

  private TaskRecord columns(Connection connection, QueueIds numbers, ResultSet row, int first, TaskState state,
      String reason) throws SQLException {
    TaskRecord.Edit edit = TaskRecord.edit(id(row, first), numbers.name(connection, row.getInt(first + 1)),
        textOrNull(row, first + 2));
    edit.state(state).parked(!state.isFinal() && row.getInt(first + 4) >= IndexPartitions.PARKED);
    readTimes(edit, row, first);
    edit.leaseEnd(row.getLong(first + 10)).claimedAt(row.getLong(first + 11)).generation(row.getLong(first + 12))
        .attempt(row.getInt(first + 13)).maxAttempts(row.getInt(first + 14)).token(token(row, first + 15))
        .outstanding(row.getBoolean(first + 18)).body(UNREAD);
    return state.isFinal() ? edit.reason(reason).dropAt(row.getLong(first + 24)).done() : edit.done();
  }

  private static void readTimes(TaskRecord.Edit edit, ResultSet row, int first) throws SQLException {
    edit.wakeAt(row.getLong(first + 5));
    edit.dueAt(row.getLong(first + 6));
    edit.firstDueAt(row.getLong(first + 7));
    edit.createdAt(row.getLong(first + 8));
    edit.changedAt(row.getLong(first + 9));
  }

  private void readClaim(TaskRecord.Edit edit, ResultSet row, int first) throws SQLException {
    edit.leaseEnd(row.getLong(first + 10));
    edit.claimedAt(row.getLong(first + 11));
    edit.generation(row.getLong(first + 12));
    edit.attempt(row.getInt(first + 13));
    edit.maxAttempts(row.getInt(first + 14));
    edit.token(token(row, first + 15));
    int settledAs = row.getInt(first + 16);
    edit.settledAs(row.wasNull() || settledAs == ColumnCodes.NO_END ? null : EnumCodes.end(settledAs));
    edit.cancelRequested(row.getBoolean(first + 17));
    edit.outstanding(row.getBoolean(first + 18));
  }

  private void readContent(TaskRecord.Edit edit, TaskId id, @Nullable String key, ResultSet row, int first)
      throws SQLException {
    edit.successor(Blobs.successor(id, bytesOrNull(row, first + 20)));
    byte[] body = bytesOrNull(row, first + 22);
    edit.body(body == null ? UNREAD : Blobs.body(id, key, body));
  }

  /** Returns the attempts, including the last one if it is in columns of its own. */
  private List<AttemptRecord> withLast(List<AttemptRecord> attempts, ResultSet row, int first) throws SQLException {
    long begunAt = row.getLong(first + 25);
    if (begunAt == 0) {
      return attempts;
    }
    AttemptRecord.End end = EnumCodes.end(row.getInt(first + 16));
    AttemptRecord last = new AttemptRecord(row.getLong(first + 12), row.getInt(first + 13), begunAt,
        row.getLong(first + 9), end, text(row, first + 26));
    List<AttemptRecord> all = new ArrayList<>(
        attempts.subList(Math.max(0, attempts.size() + 1 - AttemptRecord.KEPT), attempts.size()));
    all.add(last);
    return List.copyOf(all);
  }
}
