package io.foliot.store.jdbc;

import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.UnreadableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The {@link ClaimStatements} of PostgreSQL. */
final class PostgresClaims implements ClaimStatements {
  private final PostgresStatements statements;
  private final String claim;
  private final String move;
  private final String park;
  private final String finish;
  private final String plan;

  PostgresClaims(PostgresStatements statements) {
    this.statements = statements;
    SqlFiles files = statements.files();
    claim = files.text("claim");
    move = files.text("move");
    park = files.text("park");
    finish = files.text("finish");
    plan = files.text("plan");
  }

  @Override
  public Claimed claim(Connection connection, QueueIds numbers, List<NewClaim> claims, int slotCount)
      throws SQLException {
    int count = claims.size();
    UuidArray ids = new UuidArray(count);
    UuidArray tokens = new UuidArray(count);
    long[] leases = new long[count];
    long[] notAfters = new long[count];
    int[] slots = new int[count];
    for (int i = 0; i < count; i++) {
      NewClaim claim = claims.get(i);
      ids.set(i, claim.id());
      tokens.set(i, claim.token());
      leases[i] = claim.leaseMillis();
      notAfters[i] = claim.notAfterMillis();
      slots[i] = claim.slot();
    }
    List<@Nullable ClaimResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long now = 0;
    try (PreparedStatement statement = statements.batch(connection, claim)) {
      new PostgresArrays(connection, statement).ids(ids).ids(tokens).longs(leases).longs(notAfters).ints(slots);
      try (ResultSet row = PostgresStatements.rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (place >= 0) {
            results.set(place, row.getInt(3) == ColumnCodes.RUNNING
                ? won(connection, numbers, row, claims.get(place), Math.floorDiv(now, 1_000))
                : new ClaimResult.Later(row.getLong(6)));
          }
        }
      }
    }
    return new Claimed(now, results);
  }

  @Override
  public Claimed move(Connection connection, QueueIds numbers, List<NewClaim> moves, int slotCount)
      throws SQLException {
    int count = moves.size();
    UuidArray ids = PostgresStatements.ids(moves, NewClaim::id);
    int[] slots = moves.stream().mapToInt(NewClaim::slot).toArray();
    List<@Nullable ClaimResult> results = new ArrayList<>(Collections.nCopies(count, null));
    long now = 0;
    try (PreparedStatement statement = statements.unsynced(connection, move)) {
      new PostgresArrays(connection, statement).ids(ids).ints(slots);
      try (ResultSet row = PostgresStatements.rows(statement)) {
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

  /** Returns the won claim of a row, or null if the row cannot be read. The general path then sets the task aside. */
  private static @Nullable ClaimResult won(Connection connection, QueueIds numbers, ResultSet row, NewClaim claim,
      long nowMillis) throws SQLException {
    try {
      return new ClaimResult.Won(task(connection, numbers, row, claim, nowMillis));
    } catch (UnreadableException e) {
      return null;
    }
  }

  /**
   * Reads the record of a won claim. Columns: clock, place, state, queue, key, due time, lease end, first due time,
   * time of creation, generation, attempt, maximum number of attempts, whether an attempt is outstanding, attempts, and
   * body.
   */
  private static TaskRecord task(Connection connection, QueueIds numbers, ResultSet row, NewClaim claim, long nowMillis)
      throws SQLException {
    TaskId id = claim.id();
    long leaseEnd = row.getLong(7);
    Blobs.History history = Blobs.history(id, row.getBytes(14));
    return TaskRecord.edit(id, numbers.name(connection, row.getInt(4)), row.getString(5)).state(TaskState.RUNNING)
        .token(claim.token()).dueAt(row.getLong(6)).wakeAt(leaseEnd).leaseEnd(leaseEnd).firstDueAt(row.getLong(8))
        .createdAt(row.getLong(9)).changedAt(nowMillis).claimedAt(nowMillis).generation(row.getLong(10))
        .attempt(row.getInt(11)).maxAttempts(row.getInt(12)).outstanding(row.getBoolean(13))
        .attempts(history.attempts()).noted(history.noted()).body(Blobs.body(id, row.getString(5), row.getBytes(15)))
        .done();
  }

  @Override
  public BitSet park(Connection connection, List<DueEntry> entries) throws SQLException {
    UuidArray ids = PostgresStatements.ids(entries, DueEntry::id);
    try (PreparedStatement statement = statements.batch(connection, park)) {
      new PostgresArrays(connection, statement).ids(ids)
          .longs(entries.stream().mapToLong(DueEntry::wakeAt).toArray());
      return PostgresStatements.places(statement);
    }
  }

  @Override
  public BitSet finish(Connection connection, List<AttemptEnd> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException {
    int count = settlements.size();
    UuidArray ids = new UuidArray(count);
    UuidArray tokens = new UuidArray(count);
    long[] generations = new long[count];
    long[] begunAts = new long[count];
    String[] details = new String[count];
    for (int i = 0; i < count; i++) {
      AttemptEnd settlement = settlements.get(i);
      ids.set(i, settlement.id());
      tokens.set(i, settlement.token());
      generations[i] = settlement.generation();
      begunAts[i] = settlement.begunAt();
      details[i] = PostgresStatements.plain(AttemptRecord.cut(settlement.detail()));
    }
    try (PreparedStatement statement = statements.batch(connection, finish)) {
      new PostgresArrays(connection, statement).ids(ids).ids(tokens).longs(generations).longs(begunAts).texts(details)
          .value(otherRetentionMillis).ints(retentions.stream().mapToInt(Retention::queue).toArray())
          .longs(retentions.stream().mapToLong(Retention::millis).toArray());
      return PostgresStatements.places(statement);
    }
  }

  @Override
  public Planned plan(Connection connection, List<NewPlan> plans, long seenMicros) throws SQLException {
    long[] dueAts = Planned.none(plans.size());
    long now = 0;
    try (PreparedStatement statement = statements.batch(connection, plan)) {
      PostgresArrays arrays = new PostgresArrays(connection, statement).value(seenMicros);
      bindParents(arrays, plans);
      bindChildren(arrays, plans);
      try (ResultSet row = PostgresStatements.rows(statement)) {
        while (row.next()) {
          now = row.getLong(1);
          int place = row.getInt(2) - 1;
          if (place >= 0) {
            dueAts[place] = row.getLong(3);
          }
        }
      }
    }
    return new Planned(now, dueAts);
  }

  private static void bindParents(PostgresArrays arrays, List<NewPlan> plans) throws SQLException {
    int count = plans.size();
    UuidArray ids = new UuidArray(count);
    UuidArray tokens = new UuidArray(count);
    long[] generations = new long[count];
    int[] slots = new int[count];
    long[] dues = new long[count];
    boolean[] relative = new boolean[count];
    byte[] @Nullable [] bodies = new byte[count][];
    for (int i = 0; i < count; i++) {
      AttemptEnd settlement = plans.get(i).settlement();
      Outcome.Rearm outcome = plans.get(i).outcome();
      ids.set(i, settlement.id());
      tokens.set(i, settlement.token());
      generations[i] = settlement.generation();
      slots[i] = plans.get(i).slot();
      dues[i] = Dialect.millis(outcome.due());
      relative[i] = outcome.due() instanceof Due.After;
      bodies[i] = outcome.body() == null ? null : Blobs.body(settlement.id(), outcome.body());
    }
    arrays.ids(ids).ids(tokens).longs(generations).ints(slots).longs(dues).flags(relative).blobs(bodies);
  }

  private static void bindChildren(PostgresArrays arrays, List<NewPlan> plans) throws SQLException {
    int count = plans.stream().mapToInt(plan -> plan.children().size()).sum();
    UuidArray ids = new UuidArray(count);
    int[] queues = new int[count];
    int[] slots = new int[count];
    long[] dues = new long[count];
    boolean[] relative = new boolean[count];
    int[] maxAttempts = new int[count];
    boolean[] parks = new boolean[count];
    byte[][] bodies = new byte[count][];
    int[] parents = new int[count];
    int at = 0;
    for (int parent = 0; parent < plans.size(); parent++) {
      for (NewPlan.ChildRow row : plans.get(parent).children()) {
        Outcome.Child child = row.child();
        ids.set(at, child.id());
        queues[at] = row.queue();
        slots[at] = plans.get(parent).slot();
        dues[at] = Dialect.millis(child.due());
        relative[at] = child.due() instanceof Due.After;
        maxAttempts[at] = child.maxAttempts();
        parks[at] = child.parked();
        bodies[at] = Blobs.body(child.id(), child.body());
        parents[at++] = parent + 1;
      }
    }
    arrays.value(Row.newVersions()).ids(ids).ints(queues).ints(slots).longs(dues).flags(relative).ints(maxAttempts)
        .flags(parks).blobs(bodies)
        .ints(parents);
  }
}
