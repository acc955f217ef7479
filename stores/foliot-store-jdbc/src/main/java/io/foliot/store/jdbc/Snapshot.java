package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.CommittedRecords;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.RequestName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of one {@link RecordStatements#read}. Records that the read did not select are absent. Not thread-safe.
 */
final class Snapshot implements CommittedRecords {
  private final long micros;
  private final long floor;
  private final List<Row> rows;
  private final Map<RequestName, RecordTable.Answered> answers;
  private final Map<TaskId, Row> byId = new HashMap<>();
  private final Map<KeyName, TaskId> holders = new HashMap<>();

  /**
   * Creates a snapshot.
   *
   * @param micros the time of the read by the database's clock, in microseconds since 1970
   * @param floor the smallest generation that may be given out
   * @param rows the rows read; a record may occur twice
   * @param answers the stored answers by request
   */
  Snapshot(long micros, long floor, List<Row> rows, Map<RequestName, RecordTable.Answered> answers) {
    this.micros = micros;
    this.floor = floor;
    this.rows = List.copyOf(rows);
    this.answers = Map.copyOf(answers);
    for (Row row : rows) {
      if (byId.putIfAbsent(row.record().id(), row) == null) {
        hold(row.record());
      }
    }
  }

  /** Maps the key of a record to the live task of this key; if there is none, to the last task that had the key. */
  private void hold(TaskRecord record) {
    String key = record.key();
    if (key == null) {
      return;
    }
    holders.merge(new KeyName(record.queue(), key), record.id(), (old, next) -> {
      TaskRecord holder = record(old);
      boolean isOlder = holder == null
          || (!holder.isLive() && (record.isLive() || holder.generation() <= record.generation()));
      return isOlder ? next : old;
    });
  }

  /** Returns a snapshot with the records of {@code newer}, and with the final records and the answers of this one. */
  Snapshot with(Snapshot newer) {
    List<Row> together = new ArrayList<>(newer.rows);
    rows.stream().filter(row -> !row.record().isLive()).forEach(together::add);
    return new Snapshot(newer.micros, newer.floor, together, answers);
  }

  long micros() {
    return micros;
  }

  long floor() {
    return floor;
  }

  List<Row> rows() {
    return rows;
  }

  /** Returns the row of a task, or null if none was read. */
  @Nullable
  Row row(TaskId id) {
    return byId.get(id);
  }

  @Override
  public @Nullable TaskRecord record(TaskId id) {
    Row row = byId.get(id);
    return row == null ? null : row.record();
  }

  @Override
  public @Nullable TaskId holder(KeyName key) {
    return holders.get(key);
  }

  @Override
  public RecordTable.@Nullable Answered answer(RequestName request) {
    return answers.get(request);
  }

  @Override
  public boolean isOfNewerVersion(TaskId id) {
    Row row = byId.get(id);
    return row != null && row.isOfNewerVersion();
  }

  /** Returns the tasks that have ended in place. */
  List<TaskId> endedInPlace() {
    return rows.stream().filter(Row::isEndedInPlace).map(row -> row.record().id()).toList();
  }

  /** Returns the live rows that cannot be decoded, except those of a newer version. */
  List<Row> toSetAside() {
    return rows.stream().filter(Row::isToSetAside).toList();
  }
}
