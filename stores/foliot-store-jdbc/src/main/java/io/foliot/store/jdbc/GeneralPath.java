package io.foliot.store.jdbc;

import io.foliot.api.Limits;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TermsByQueue;
import io.foliot.core.store.batch.BatchUnit;
import io.foliot.core.store.batch.OptimisticBatch;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RecordChange;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.UnreadableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reads and the compare-and-set writes of an {@link OptimisticBatch} on one database. Thread-safe, if each thread
 * has its own session.
 *
 * <ol>
 * <li>A read that finds damaged live records sets them aside and then reads again, so that no damaged record is in the
 * batch.
 * <li>If the generations of a write are ahead of the clock, the floor is raised first. The floor is the smallest
 * generation that may be given out. Each write changes a row only if the row still has the version that was read.
 * <li>Each statement writes rows in the order of their ids, so that two statements do not deadlock.
 * <li>If the database has no room for a kept record, the task ends in place: its row stays, with a final state. A read
 * that meets such a row moves the row if there is room, and reads again.
 * <li>If a statement finds no room, it is repeated for parts of its rows. A row that finds no room then refuses its
 * item, and leaves the others.
 * <li>A {@linkplain BatchUnit unit} that changes a live record and inserts others is a re-arm with children. The
 * statement that writes the parent inserts the children.
 * </ol>
 */
final class GeneralPath {
  private static final System.Logger LOG = System.getLogger(GeneralPath.class.getName());
  /** Maximum number of tasks that one statement moves to the kept records. */
  private static final int MOVED_AT_ONCE = 1_000;
  /** Number of parts into which the rows of a statement are divided if it finds no room. */
  private static final int PARTS = 16;
  /** Number of rows of a write that find no room, before all rows that are left are refused. */
  private static final int FULL_ROWS_MAX = 32;

  private final Dialect dialect;
  private final QueueIds numbers;
  private final int slotCount;
  private final Supplier<Token> tokens;
  private final TermsByQueue terms;
  private final GenerationClock clock;
  private final Consumer<SetAside> onSetAside;
  private final EndedRows endedRows = new EndedRows(System::nanoTime);

  GeneralPath(Dialect dialect, QueueIds numbers, int slotCount, Supplier<Token> tokens, TermsByQueue terms,
      GenerationClock clock, Consumer<SetAside> onSetAside) {
    this.dialect = dialect;
    this.numbers = numbers;
    this.slotCount = slotCount;
    this.tokens = tokens;
    this.terms = terms;
    this.clock = clock;
    this.onSetAside = onSetAside;
  }

  /** Runs all items of a batch that are still open. */
  <Q, R> void take(Session session, OptimisticBatch<Q, R> batch, boolean bodies) throws SQLException {
    take(session, batch, bodies, true);
  }

  /**
   * Runs all items of a batch that are still open. In the transaction of a caller, the read may lock the live rows (see
   * {@link Session#locksReads}). Without locks, the compare-and-set writes could fail for each row that has changed
   * since the first read of the transaction.
   *
   * @param bodies whether payloads are read, because the results contain them
   * @param writes whether changes are written; false for moves. If another statement is changing the row of a move, a
   *     write would wait for that statement, and then there may be nothing to move
   */
  <Q, R> void take(Session session, OptimisticBatch<Q, R> batch, boolean bodies, boolean writes) throws SQLException {
    for (List<Integer> chunk : Rounds.chunks(batch.open())) {
      List<Integer> left = chunk;
      for (int round = 0; !left.isEmpty(); round++) {
        Rounds.await(round);
        Snapshot snapshot = read(session, batch.reads(left), bodies, session.locksReads());
        List<BatchUnit<R>> units = decide(batch, left, snapshot);
        List<BatchUnit<R>> written = writes ? write(session, snapshot, units, batch) : units;
        written.forEach(batch::answer);
        left = left.stream().filter(batch::isOpen).toList();
      }
    }
  }

  /** Decides the items at these places from a snapshot. The time of the decision is the time of the snapshot. */
  <Q, R> List<BatchUnit<R>> decide(OptimisticBatch<Q, R> batch, List<Integer> places, Snapshot snapshot) {
    long floor = Math.max(snapshot.floor(), clock.seen());
    return batch.decide(places, snapshot, snapshot.micros(), floor, tokens, terms);
  }

  /**
   * Reads records. Sets damaged live records aside and reads again, so that no damaged live record is returned. Moves
   * tasks that have ended in place, if there is room.
   */
  Snapshot read(Session session, ReadSet reads, boolean bodies, boolean locking) throws SQLException {
    for (int round = 0;; round++) {
      Rounds.await(round);
      Snapshot snapshot = session
          .ask(connection -> dialect.records().read(connection, numbers, reads, bodies, locking));
      clock.seen(snapshot.micros());
      List<Row> damaged = snapshot.toSetAside();
      if (!damaged.isEmpty()) {
        setAside(session, damaged, snapshot.micros());
      } else if (snapshot.endedInPlace().isEmpty() || !endedRows.mayMove()
          || !moveEnded(session, snapshot.endedInPlace())) {
        return snapshot;
      }
    }
  }

  /** Moves tasks that have ended in place to the kept records. Returns false if there is no room for them. */
  boolean moveEnded(Session session, List<TaskId> ids) throws SQLException {
    List<TaskId> sorted = ids.stream().sorted().toList();
    try {
      session.ask(connection -> {
        dialect.records().moveEnded(connection, sorted);
        return true;
      });
    } catch (SQLException e) {
      ensureOnlyFull(session, e);
      endedRows.noRoom();
      return false;
    }
    endedRows.moved(ids);
    return true;
  }

  /** Moves all tasks that this process has ended in place, if there is room. */
  void moveEnded(Session session) throws SQLException {
    List<TaskId> some = endedRows.first(MOVED_AT_ONCE);
    while (!some.isEmpty() && moveEnded(session, some)) {
      some = endedRows.first(MOVED_AT_ONCE);
    }
  }

  /**
   * Rethrows the failure of a statement, unless the statement found no room and had no effect. In the transaction of a
   * caller, the failure may have ended the transaction, so it is always rethrown.
   */
  void ensureOnlyFull(Session session, SQLException failure) throws SQLException {
    if (!session.isOwn() || !dialect.isFull(failure)) {
      throw failure;
    }
  }

  /**
   * Locks the live records of a snapshot. Returns a snapshot with the newest versions of these records, and without
   * those that are no longer live. Records are locked by their ids. On MariaDB and MySQL, a lock by key would also lock
   * neighbours in the index.
   */
  Snapshot lock(Session session, Snapshot snapshot) throws SQLException {
    ReadSet live = new ReadSet();
    snapshot.rows().stream().map(Row::record).filter(TaskRecord::isLive).forEach(record -> live.id(record.id()));
    return live.ids().isEmpty() ? snapshot : snapshot.with(read(session, live, false, true));
  }

  /** Ends tasks whose rows cannot be read, and reports them. Rows that have changed since the read stay as they are. */
  void setAside(Session session, List<Row> damaged, long nowMicros) throws SQLException {
    List<Row> sorted = damaged.stream().sorted(Comparator.comparing(row -> row.record().id())).toList();
    long last = sorted.stream().mapToLong(row -> row.record().generation()).max().orElse(0);
    if (last >= nowMicros && last < Long.MAX_VALUE) {
      // A later task with the same key must not get a smaller generation.
      clock.raise(session, last);
    }
    List<SetAside> reports = sorted.stream().map(GeneralPath::reportOf).toList();
    List<Dialect.Unreadable> rows = new ArrayList<>();
    for (int i = 0; i < sorted.size(); i++) {
      TaskRecord record = sorted.get(i).record();
      rows.add(
          new Dialect.Unreadable(record.id(), sorted.get(i).version(), AttemptRecord.cut(reports.get(i).finalReason()),
              Math.min(terms.of(record.queue()).retainFailedMillis(), Limits.MAX_DELAY_MILLIS)));
    }
    session.run(connection -> dialect.records().setAside(connection, rows)).stream().mapToObj(reports::get)
        .forEach(report -> {
          LOG.log(System.Logger.Level.ERROR,
              "a task was set aside because its record cannot be read; its bytes are kept in"
                  + " foliot_final: task={0}, queue={1}, reason={2}",
              report.id(), report.queue(), report.reason());
          onSetAside.accept(report);
        });
  }

  /** Returns the report of a record that cannot be read. */
  static SetAside reportOf(Row row) {
    UnreadableException damage = Objects.requireNonNull(row.damage());
    return new SetAside(row.record().id(), row.record().queue(), damage.getMessage() + "");
  }

  /**
   * Writes units, and returns those that were written. A unit is left out if one of its rows has changed since the
   * read. If another call has stored an answer to one of the requests since the read, only units without changes are
   * returned. The items of a unit that finds no room are refused.
   */
  <R> List<BatchUnit<R>> write(Session session, Snapshot snapshot, List<BatchUnit<R>> units,
      OptimisticBatch<?, R> batch) throws SQLException {
    List<Change> updates = new ArrayList<>();
    List<Change> ends = new ArrayList<>();
    List<Change> entries = new ArrayList<>();
    List<Family> families = new ArrayList<>();
    Map<RequestName, RecordTable.Answered> answers = new LinkedHashMap<>();
    long last = 0;
    for (BatchUnit<R> unit : units) {
      List<Change> changed = new ArrayList<>();
      List<Change> entered = new ArrayList<>();
      for (RecordChange change : unit.overlay().changes()) {
        Change row = change(snapshot, change);
        // A row that has ended in place is still there, so a redrive changes it.
        (!change.after().isLive() ? ends : Row.isLive(row.version()) ? changed : entered).add(row);
        last = Math.max(last, Generations.aheadOfClock(change.before(), change.after(), snapshot.micros()));
      }
      if (changed.isEmpty() || entered.isEmpty()) {
        updates.addAll(changed);
        entries.addAll(entered);
      } else {
        assert changed.size() == 1 : changed;
        families.add(new Family(changed.getFirst(), entered));
      }
      answers.putAll(unit.overlay().answers());
    }
    if (last > 0 && last >= snapshot.floor()) {
      clock.raise(session, last);
    }
    Set<TaskId> failed = new HashSet<>();
    NoRoom noRoom = new NoRoom();
    if (!update(session, sorted(updates), answers, failed, noRoom)) {
      return units.stream().filter(BatchUnit::isUnchanged).toList();
    }
    rearm(session, families, failed, noRoom);
    for (List<Change> chunk : Rounds.chunks(sorted(ends), Change::bytes)) {
      note(chunk, end(session, chunk, noRoom), failed);
    }
    for (List<Change> chunk : Rounds.chunks(sorted(entries), Change::bytes)) {
      note(chunk, whileRoom(session, chunk, dialect.records()::enter, noRoom), failed);
    }
    noRoom.refuse(units, batch);
    return failed.isEmpty()
        ? units
        : units.stream().filter(unit -> failed.stream().noneMatch(unit.overlay()::hasWritten)).toList();
  }

  /** The rows of a write for which the database had no room. Not thread-safe. */
  private static final class NoRoom {
    private final Set<TaskId> ids = new HashSet<>();
    private @Nullable SQLException failure;

    /** Returns whether so many rows have found no room that the statements for other rows are not worth their cost. */
    boolean isHopeless() {
      return ids.size() >= FULL_ROWS_MAX;
    }

    void add(List<Change> changes, SQLException e) {
      failure = e;
      changes.forEach(change -> ids.add(change.after().id()));
    }

    <R> void refuse(List<BatchUnit<R>> units, OptimisticBatch<?, R> batch) {
      if (failure == null) {
        return;
      }
      StoreException full = Connections.full(failure);
      units.stream().filter(unit -> ids.stream().anyMatch(unit.overlay()::hasWritten))
          .forEach(unit -> unit.places().forEach(place -> batch.refuse(place, full)));
    }
  }

  /** A statement that writes changes, and returns the positions of the changes that it has written. */
  private interface Statement {
    BitSet write(Connection connection, List<Change> changes) throws SQLException;
  }

  /** Ends tasks. If there is no room for kept records, ends the tasks in place. */
  private BitSet end(Session session, List<Change> changes, NoRoom noRoom) throws SQLException {
    try {
      return session.run(connection -> dialect.records().end(connection, changes));
    } catch (SQLException e) {
      ensureOnlyFull(session, e);
    }
    BitSet ended = whileRoom(session, changes, dialect.records()::endInPlace, noRoom);
    ended.stream().forEach(i -> endedRows.add(changes.get(i).after().id()));
    return ended;
  }

  /**
   * Runs a statement for changes. If it finds no room, runs it for parts of them, down to single rows. A statement
   * needs room for the new versions of all its rows in a page; after it, their old versions are room for the next
   * statement.
   */
  private BitSet whileRoom(Session session, List<Change> changes, Statement statement, NoRoom noRoom)
      throws SQLException {
    BitSet written = new BitSet();
    Deque<List<Integer>> parts = new ArrayDeque<>();
    parts.add(Rounds.places(changes.size()));
    while (!parts.isEmpty()) {
      List<Integer> part = parts.remove();
      List<Change> some = part.stream().map(changes::get).toList();
      try {
        session.run(connection -> statement.write(connection, some)).stream().map(part::get).forEach(written::set);
      } catch (SQLException e) {
        ensureOnlyFull(session, e);
        if (part.size() == 1 || noRoom.isHopeless()) {
          noRoom.add(some, e);
        } else {
          int size = Math.ceilDiv(part.size(), PARTS);
          for (int from = 0; from < part.size(); from += size) {
            parts.add(part.subList(from, Math.min(part.size(), from + size)));
          }
        }
      }
    }
    return written;
  }

  /**
   * The changes of a unit that must be written together.
   *
   * @param parent the change of a live record
   * @param children the records inserted with it
   */
  private record Family(Change parent, List<Change> children) {
    /** Assumed size of a row without its payload, in bytes. It bounds the number of small rows in a statement. */
    private static final long ROW_BYTES = 4_096;

    TaskId id() {
      return parent.after().id();
    }

    long bytes() {
      return parent.bytes() + children.stream().mapToLong(child -> child.bytes() + ROW_BYTES).sum();
    }
  }

  private void rearm(Session session, List<Family> families, Set<TaskId> failed, NoRoom noRoom) throws SQLException {
    families.sort(Comparator.comparing(Family::id));
    for (List<Family> chunk : Rounds.chunks(families, Family::bytes)) {
      List<Change> parents = new ArrayList<>();
      List<Child> children = new ArrayList<>();
      for (Family family : chunk) {
        family.children().forEach(child -> children.add(new Child(child, parents.size())));
        parents.add(family.parent());
      }
      children.sort(Comparator.comparing(child -> child.change().after().id()));
      BitSet written = new BitSet();
      try {
        written = session.run(connection -> dialect.records().rearm(connection, parents, children));
      } catch (SQLException e) {
        ensureOnlyFull(session, e);
        noRoom.add(parents, e);
      }
      note(parents, written, failed);
    }
  }

  private static List<Change> sorted(List<Change> changes) {
    changes.sort(Comparator.comparing(change -> change.after().id()));
    return changes;
  }

  private Change change(Snapshot snapshot, RecordChange change) {
    TaskRecord after = change.after();
    Row row = change.before() == null ? null : snapshot.row(change.id());
    int queue = numbers.of(after.queue());
    int part = after.parked() ? IndexPartitions.parked(queue) : after.id().slot(slotCount);
    return new Change(change, row == null ? 0 : row.version(), queue, part);
  }

  /**
   * Writes updates and answers. Returns false, with nothing written, if another call has stored an answer to one of the
   * requests since the read.
   */
  private boolean update(Session session, List<Change> updates, Map<RequestName, RecordTable.Answered> answers,
      Set<TaskId> failed, NoRoom noRoom) throws SQLException {
    if (answers.isEmpty()) {
      for (List<Change> chunk : Rounds.chunks(updates, Change::bytes)) {
        note(chunk, whileRoom(session, chunk,
            (connection, some) -> dialect.records().update(connection, some, List.of()), noRoom), failed);
      }
      return true;
    }
    List<NewAnswer> remembered = newAnswers(updates, answers);
    try {
      note(updates, session.guarded(connection -> dialect.records().update(connection, updates, remembered)), failed);
      return true;
    } catch (SQLException e) {
      if (dialect.isDuplicate(e)) {
        session.ensureVisible(e);
        return false;
      }
      throw e;
    }
  }

  /**
   * Returns the answers to write. Each answer has the position of the update that must be written with it, or -1 if it
   * needs no update.
   */
  private List<NewAnswer> newAnswers(List<Change> updates, Map<RequestName, RecordTable.Answered> answers) {
    Map<TaskId, Integer> changed = new HashMap<>();
    for (int i = 0; i < updates.size(); i++) {
      changed.put(updates.get(i).after().id(), i);
    }
    List<NewAnswer> list = new ArrayList<>(answers.size());
    answers.forEach((name, answered) -> list.add(new NewAnswer(name, numbers.of(name.queue()), answered,
        changed.getOrDefault(answered.result().id(), -1))));
    return list;
  }

  /** Adds the ids of the changes that were not written to {@code failed}. */
  private static void note(List<Change> changes, BitSet written, Set<TaskId> failed) {
    for (int i = 0; i < changes.size(); i++) {
      if (!written.get(i)) {
        failed.add(changes.get(i).after().id());
      }
    }
  }
}
