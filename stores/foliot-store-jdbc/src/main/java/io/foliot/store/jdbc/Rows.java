package io.foliot.store.jdbc;

import io.foliot.api.Body;
import io.foliot.api.Limits;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
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

/**
 * Decodes rows into records. Statements return the columns of live and of kept tasks in the same order; see {@code
 * live_columns} in the folder of the SQL files.
 */
abstract class Rows {
  // offsets of the columns of a record from its first column, the id
  private static final int QUEUE = 1;
  private static final int KEY = 2;
  private static final int STATE = 3;
  private static final int PART = 4;
  private static final int WAKE_AT = 5;
  private static final int DUE_AT = 6;
  private static final int FIRST_DUE_AT = 7;
  private static final int CREATED_AT = 8;
  private static final int CHANGED_AT = 9;
  private static final int LEASE_END = 10;
  private static final int CLAIMED_AT = 11;
  private static final int GENERATION = 12;
  private static final int ATTEMPT = 13;
  private static final int MAX_ATTEMPTS = 14;
  private static final int TOKEN = 15;
  private static final int SETTLED_AS = 16;
  private static final int CANCEL_REQUESTED = 17;
  private static final int OUTSTANDING = 18;
  private static final int VERSION = 19;
  private static final int SUCCESSOR = 20;
  private static final int ATTEMPTS = 21;
  private static final int BODY = 22;
  private static final int REASON = 23;
  private static final int DROP_AT = 24;
  private static final int BEGUN_AT = 25;
  private static final int DETAIL = 26;

  /** Placeholder for a payload that was not read. It is never examined, and never written back. */
  static final Body UNREAD = new Body(new byte[0], "application/x-foliot-unread", Map.of());

  /** Returns the body of a draft's new task. */
  static Body bodyOf(Draft draft) {
    return draft.body() == null ? Body.EMPTY : draft.body();
  }

  /** Returns how long finished tasks are kept, in milliseconds. A time plus this duration always fits a long. */
  static long retention(QueueTerms terms) {
    return Math.min(terms.retainFinishedMillis(), Limits.MAX_DELAY_MILLIS);
  }

  /** Returns the numbers of these slots, in ascending order. */
  static int[] slots(SlotSet slots) {
    int[] numbers = new int[slots.size()];
    int slot = -1;
    for (int i = 0; i < numbers.length; i++) {
      slot = slots.next(slot + 1);
      numbers[i] = slot;
    }
    return numbers;
  }

  /** Returns the results of scans. If a scan has found one entry more than its limit, the slot has further entries. */
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

  /** Value of {@code begun_at} of a kept task that was set aside. The blobs of such a row are not decoded. */
  static final long SET_ASIDE = -1;

  /**
   * Returns the row whose record begins at this column. If the record cannot be decoded, the result contains the damage
   * and the values of the columns. One damaged row must not fail the other rows of the statement.
   *
   * @param bodies whether the statement has read payloads; a missing payload is then damage
   */
  final Row row(Connection connection, QueueIds numbers, ResultSet row, int first, boolean bodies) throws SQLException {
    long version = row.getLong(first + VERSION);
    if (!Row.isLive(version) && row.getLong(first + BEGUN_AT) == SET_ASIDE) {
      return new Row(columns(connection, numbers, row, first, TaskState.FAILED, text(row, first + REASON)), version);
    }
    try {
      TaskRecord record = record(connection, numbers, row, first);
      if (bodies && record.body() == UNREAD) {
        throw new DamagedException("the payload is missing: task=" + record.id(), null);
      }
      return new Row(record, version);
    } catch (UnreadableException e) {
      return new Row(unreadable(connection, numbers, row, first, e), version, e);
    }
  }

  private TaskRecord record(Connection connection, QueueIds numbers, ResultSet row, int first) throws SQLException {
    TaskId id = id(row, first);
    String key = textOrNull(row, first + KEY);
    TaskState state = EnumCodes.state(row.getInt(first + STATE));
    TaskRecord.Edit edit = TaskRecord.edit(id, numbers.name(connection, row.getInt(first + QUEUE)), key);
    edit.state(state).parked(row.getInt(first + PART) >= IndexPartitions.PARKED);
    ensurePossible(id, state, row, first);
    readTimes(edit, row, first);
    readClaim(edit, row, first);
    readContent(edit, id, key, row, first);
    Blobs.History history = Blobs.history(id, bytesOrNull(row, first + ATTEMPTS));
    List<AttemptRecord> attempts = history.attempts();
    if (state.isFinal()) {
      attempts = withLast(attempts, row, first);
      edit.reason(text(row, first + REASON)).dropAt(row.getLong(first + DROP_AT));
    }
    return edit.attempts(attempts).noted(history.noted()).done();
  }

  /** Fails if the columns of a row contradict each other. No version of Foliot writes such a row. */
  private void ensurePossible(TaskId id, TaskState state, ResultSet row, int first) throws SQLException {
    boolean possible = switch (state) {
      case RUNNING -> token(row, first + TOKEN) != null
          && row.getLong(first + WAKE_AT) <= row.getLong(first + LEASE_END);
      case DELAYED -> row.getLong(first + WAKE_AT) <= row.getLong(first + DUE_AT)
          && bytesOrNull(row, first + SUCCESSOR) == null && !row.getBoolean(first + CANCEL_REQUESTED);
      case READY -> false;
      default -> true;
    };
    // A final record among the live ones has ended in place.
    boolean isFinal = !Row.isLive(row.getLong(first + VERSION)) || row.getLong(first + DROP_AT) != 0;
    if (!possible || state.isFinal() != isFinal) {
      throw new MalformedException("the columns contradict each other: task=" + id + ", state=" + state, null);
    }
  }

  /** Returns a record with the values of the columns of a damaged row. */
  private TaskRecord unreadable(Connection connection, QueueIds numbers, ResultSet row, int first,
      UnreadableException why)
      throws SQLException {
    boolean live = Row.isLive(row.getLong(first + VERSION));
    TaskState state = ColumnCodes.stateOrFailed(row.getInt(first + STATE));
    // Callers set a damaged live task aside as FAILED, so the returned record has this state.
    return columns(connection, numbers, row, first,
        live == state.isFinal() || (live && !(why instanceof NewerVersionException))
            ? TaskState.FAILED
            : state,
        why.getMessage() + "");
  }

  private TaskRecord columns(Connection connection, QueueIds numbers, ResultSet row, int first, TaskState state,
      String reason) throws SQLException {
    TaskRecord.Edit edit = TaskRecord.edit(id(row, first), numbers.name(connection, row.getInt(first + QUEUE)),
        textOrNull(row, first + KEY));
    edit.state(state).parked(!state.isFinal() && row.getInt(first + PART) >= IndexPartitions.PARKED);
    readTimes(edit, row, first);
    edit.leaseEnd(row.getLong(first + LEASE_END)).claimedAt(row.getLong(first + CLAIMED_AT))
        .generation(row.getLong(first + GENERATION)).attempt(row.getInt(first + ATTEMPT))
        .maxAttempts(row.getInt(first + MAX_ATTEMPTS)).token(token(row, first + TOKEN))
        .outstanding(row.getBoolean(first + OUTSTANDING)).body(UNREAD);
    return state.isFinal() ? edit.reason(reason).dropAt(row.getLong(first + DROP_AT)).done() : edit.done();
  }

  private static void readTimes(TaskRecord.Edit edit, ResultSet row, int first) throws SQLException {
    edit.wakeAt(row.getLong(first + WAKE_AT));
    edit.dueAt(row.getLong(first + DUE_AT));
    edit.firstDueAt(row.getLong(first + FIRST_DUE_AT));
    edit.createdAt(row.getLong(first + CREATED_AT));
    edit.changedAt(row.getLong(first + CHANGED_AT));
  }

  private void readClaim(TaskRecord.Edit edit, ResultSet row, int first) throws SQLException {
    edit.leaseEnd(row.getLong(first + LEASE_END));
    edit.claimedAt(row.getLong(first + CLAIMED_AT));
    edit.generation(row.getLong(first + GENERATION));
    edit.attempt(row.getInt(first + ATTEMPT));
    edit.maxAttempts(row.getInt(first + MAX_ATTEMPTS));
    edit.token(token(row, first + TOKEN));
    int settledAs = row.getInt(first + SETTLED_AS);
    edit.settledAs(row.wasNull() || settledAs == ColumnCodes.NO_END ? null : EnumCodes.end(settledAs));
    edit.cancelRequested(row.getBoolean(first + CANCEL_REQUESTED));
    edit.outstanding(row.getBoolean(first + OUTSTANDING));
  }

  private void readContent(TaskRecord.Edit edit, TaskId id, @Nullable String key, ResultSet row, int first)
      throws SQLException {
    edit.successor(Blobs.successor(id, bytesOrNull(row, first + SUCCESSOR)));
    byte[] body = bytesOrNull(row, first + BODY);
    edit.body(body == null ? UNREAD : Blobs.body(id, key, body));
  }

  /** Returns the attempts. Adds the last attempt if separate columns of the row contain it. */
  private List<AttemptRecord> withLast(List<AttemptRecord> attempts, ResultSet row, int first) throws SQLException {
    long begunAt = row.getLong(first + BEGUN_AT);
    if (begunAt == 0) {
      return attempts;
    }
    AttemptRecord.End end = EnumCodes.end(row.getInt(first + SETTLED_AS));
    AttemptRecord last = new AttemptRecord(row.getLong(first + GENERATION), row.getInt(first + ATTEMPT), begunAt,
        row.getLong(first + CHANGED_AT), end, text(row, first + DETAIL));
    List<AttemptRecord> all = new ArrayList<>(
        attempts.subList(Math.max(0, attempts.size() + 1 - AttemptRecord.KEPT), attempts.size()));
    all.add(last);
    return List.copyOf(all);
  }
}
