package io.foliot.store.jdbc;

import io.foliot.core.Limits;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TermsByQueue;
import io.foliot.core.store.batch.BatchUnit;
import io.foliot.core.store.batch.OptimisticBatch;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RecordChange;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.UnreadableException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

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
 * <li>A {@linkplain BatchUnit unit} that changes a live record and inserts others is a re-arm with children. The
 * statement that writes the parent inserts the children.
 * </ol>
 */
final class GeneralPath {
  private static final System.Logger LOG = System.getLogger(GeneralPath.class.getName());

  private final Dialect dialect;
  private final QueueIds numbers;
  private final int slotCount;
  private final Supplier<Token> tokens;
  private final TermsByQueue terms;
  private final GenerationClock clock;
  private final Consumer<SetAside> onSetAside;

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
        List<BatchUnit<R>> written = writes ? write(session, snapshot, units) : units;
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

  /** Reads records. Sets damaged live records aside and reads again, so that no damaged live record is returned. */
  Snapshot read(Session session, ReadSet reads, boolean bodies, boolean locking) throws SQLException {
    for (int round = 0;; round++) {
      Rounds.await(round);
      Snapshot snapshot = session
          .ask(connection -> dialect.records().read(connection, numbers, reads, bodies, locking));
      clock.seen(snapshot.micros());
      List<Row> damaged = snapshot.toSetAside();
      if (damaged.isEmpty()) {
        return snapshot;
      }
      setAside(session, damaged, snapshot.micros());
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
      rows.add(new Dialect.Unreadable(record.id(), sorted.get(i).version(), Rows.cut(reports.get(i).finalReason()),
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
   * returned.
   */
  <R> List<BatchUnit<R>> write(Session session, Snapshot snapshot, List<BatchUnit<R>> units) throws SQLException {
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
        (!change.after().isLive() ? ends : change.wasLive() ? changed : entered).add(change(snapshot, change));
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
    if (!update(session, sorted(updates), answers, failed)) {
      return units.stream().filter(BatchUnit::isUnchanged).toList();
    }
    rearm(session, families, failed);
    for (List<Change> chunk : Rounds.chunks(sorted(ends), Change::bytes)) {
      note(chunk, session.run(connection -> dialect.records().end(connection, chunk)), failed);
    }
    for (List<Change> chunk : Rounds.chunks(sorted(entries), Change::bytes)) {
      note(chunk, session.run(connection -> dialect.records().enter(connection, chunk)), failed);
    }
    return failed.isEmpty()
        ? units
        : units.stream().filter(unit -> failed.stream().noneMatch(unit.overlay()::hasWritten)).toList();
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

  private void rearm(Session session, List<Family> families, Set<TaskId> failed) throws SQLException {
    families.sort(Comparator.comparing(Family::id));
    for (List<Family> chunk : Rounds.chunks(families, Family::bytes)) {
      List<Change> parents = new ArrayList<>();
      List<Child> children = new ArrayList<>();
      for (Family family : chunk) {
        family.children().forEach(child -> children.add(new Child(child, parents.size())));
        parents.add(family.parent());
      }
      children.sort(Comparator.comparing(child -> child.change().after().id()));
      note(parents, session.run(connection -> dialect.records().rearm(connection, parents, children)), failed);
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
      Set<TaskId> failed) throws SQLException {
    if (answers.isEmpty()) {
      for (List<Change> chunk : Rounds.chunks(updates, Change::bytes)) {
        note(chunk, session.run(connection -> dialect.records().update(connection, chunk, List.of())), failed);
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
