package io.foliot.store.jdbc;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.TaskRecord;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The {@link ClaimStatements} of MariaDB and MySQL. */
final class MySqlClaims implements ClaimStatements {
  private final MySqlStatements statements;
  private final Results results;
  private final SqlFiles.Template claim;
  private final SqlFiles.Template claimed;
  private final SqlFiles.Template park;
  private final SqlFiles.Template finish;
  private final SqlFiles.Template finished;
  /** SQL expression for the time by the server's clock, in milliseconds since 1970. */
  private final String now;

  MySqlClaims(MySqlStatements statements, Results results) {
    this.statements = statements;
    this.results = results;
    SqlFiles files = statements.files();
    claim = files.template("claim", "lease", "slot_mask", "ids", "in_time");
    claimed = files.template("claimed", "body", "ids");
    park = files.template("park", "wanted", "versions");
    finish = files.template("finish", "wanted", "retention");
    finished = files.template("finished", "wanted");
    now = files.part("now");
  }

  /**
   * Claims in two statements. The first writes a token into each row that it claims, and the second reads which rows
   * have the tokens of this call. The first statement derives each token from the task's id and a secret of this call,
   * so no list of tokens is sent.
   */
  @Override
  public Claimed claim(Connection connection, QueueIds numbers, List<NewClaim> claims, int slotCount)
      throws SQLException {
    // Each claim has a random token of 128 bits. The tokens of the first and the last claim together form the secret.
    ByteBuffer secret = ByteBuffer.allocate(32);
    for (NewClaim half : List.of(claims.getFirst(), claims.getLast())) {
      secret.putLong(half.token().high()).putLong(half.token().low());
    }
    claim(connection, claims, secret.array(), slotCount);
    Map<TaskId, Integer> places = new HashMap<>();
    for (int i = 0; i < claims.size(); i++) {
      places.put(claims.get(i).id(), i);
    }
    List<@Nullable ClaimResult> found = new ArrayList<>(Collections.nCopies(claims.size(), null));
    long claimedMicros = 0;
    long readMicros = 0;
    try (PreparedStatement select = statements.prepare(connection,
        claimed.with("body", "record.body").with("ids", MySqlStatements.list(claims.size())).text())) {
      int next = bindIds(select, 1, claims);
      assert next == claims.size() + 1 : next;
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          readMicros = row.getLong(1);
          Row read = results.record(connection, numbers, row, 2, true);
          if (read.damage() != null) {
            // The general path sets the record aside, or leaves it to nodes that can read it.
            continue;
          }
          TaskRecord task = read.record();
          int place = Objects.requireNonNull(places.get(task.id()));
          if (tokenOf(secret.array(), task.id()).equals(task.token()) && task.state() == TaskState.RUNNING) {
            claimedMicros = 1_000 * task.claimedAt();
            found.set(place, new ClaimResult.Won(task));
          } else if (task.state() == TaskState.DELAYED && task.dueAt() > Math.floorDiv(readMicros, 1_000)
              && task.wakeAt() == task.dueAt() && !task.parked()) {
            found.set(place, new ClaimResult.Later(task.dueAt()));
          } else if (task.state() == TaskState.DELAYED
              && notAfter(claims.get(place)) < Math.floorDiv(readMicros, 1_000)) {
            found.set(place, ClaimResult.Ready.READY);
          }
        }
      }
    }
    return new Claimed(claimedMicros > 0 ? claimedMicros : readMicros, found);
  }

  @Override
  public Claimed move(Connection connection, QueueIds numbers, List<NewClaim> moves, int slotCount)
      throws SQLException {
    return claim(connection, numbers, moves, slotCount);
  }

  private void claim(Connection connection, List<NewClaim> claims, byte[] secret, int slotCount) throws SQLException {
    List<List<NewClaim>> bounded = List.copyOf(claims.stream().filter(claim -> notAfter(claim) < Long.MAX_VALUE)
        .collect(Collectors.groupingBy(MySqlClaims::notAfter)).values());
    List<List<NewClaim>> byLease = List
        .copyOf(claims.stream().collect(Collectors.groupingBy(NewClaim::leaseMillis)).values());
    String sql = claim.with("lease", lease(byLease)).with("slot_mask", slotCount - 1)
        .with("ids", MySqlStatements.list(claims.size())).with("in_time", inTime(bounded)).text();
    try (PreparedStatement update = statements.prepare(connection, sql)) {
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

  /** Returns the last time at which a claim may win, in milliseconds since 1970; {@link Long#MIN_VALUE} for a move. */
  private static long notAfter(NewClaim claim) {
    return claim.leaseMillis() == 0 ? Long.MIN_VALUE : claim.notAfterMillis();
  }

  /** Returns the SQL condition that is true while the claim of a row may still win. */
  private String inTime(List<List<NewClaim>> bounded) {
    return bounded.isEmpty()
        ? "TRUE"
        : bounded.stream().map(some -> " WHEN id IN (" + MySqlStatements.list(some.size()) + ") THEN " + now + " <= "
            + notAfter(some.getFirst())).collect(Collectors.joining("", "CASE", " ELSE TRUE END"));
  }

  /**
   * Returns an SQL expression for the lease of a row, in milliseconds. The claims of one list have the same lease. The
   * expression names the rows of all lists except the first; any other row gets the lease of the first list.
   */
  private static String lease(List<List<NewClaim>> byLease) {
    long first = byLease.getFirst().getFirst().leaseMillis();
    if (byLease.size() == 1) {
      return Long.toString(first);
    }
    return byLease.subList(1, byLease.size()).stream()
        .map(others -> " WHEN id IN (" + MySqlStatements.list(others.size()) + ") THEN "
            + others.getFirst().leaseMillis())
        .collect(Collectors.joining("", "CASE", " ELSE " + first + " END"));
  }

  private static int bindIds(PreparedStatement statement, int first, List<NewClaim> claims) throws SQLException {
    int at = first;
    for (NewClaim claim : claims) {
      statement.setBytes(at++, ParameterTable.bytes(claim.id()));
    }
    return at;
  }

  /** Returns the token that the statement derives for a task. */
  private static Token tokenOf(byte[] secret, TaskId id) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(secret);
      ByteBuffer hash = ByteBuffer.wrap(digest.digest(ParameterTable.bytes(id)));
      return new Token(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java runtime has no SHA-256", e);
    }
  }

  @Override
  public BitSet park(Connection connection, List<DueEntry> entries) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      long versions = Row.newVersions();
      ParameterTable values = statements.values("id", "wake_at");
      entries.forEach(entry -> values.next().add(entry.id()).add(entry.wakeAt()));
      int rows = statements.execute(transaction,
          park.with("wanted", values.with()).with("versions", versions).text(), values);
      return rows == entries.size()
          ? MySqlStatements.all(rows)
          : statements.written(transaction, entries.stream().map(DueEntry::id).toList(), versions);
    });
  }

  /** Copies the live rows to the kept records, which locks the live rows. Then deletes the live rows. */
  @Override
  public BitSet finish(Connection connection, List<AttemptEnd> settlements, List<Retention> retentions,
      long otherRetentionMillis) throws SQLException {
    return MySqlStatements.together(connection, transaction -> {
      ParameterTable values = statements.values("id", "token", "generation", "begun_at", "detail");
      for (AttemptEnd item : settlements) {
        values.next().add(item.id()).add(item.token()).add(item.generation()).add(item.begunAt())
            .add(AttemptRecord.cut(item.detail()));
      }
      int rows = statements.execute(transaction, finish.with("wanted", values.with())
          .with("retention", retention(retentions, otherRetentionMillis)).text(), values);
      BitSet done = rows == settlements.size() ? MySqlStatements.all(rows) : finished(transaction, settlements);
      if (!done.isEmpty()) {
        statements.dropLive(transaction, done.stream().mapToObj(i -> settlements.get(i).id()).toList());
      }
      return done;
    });
  }

  /**
   * Leaves all plans to the general path. An UPDATE cannot return rows, so plans would take several statements
   * here, as they do on the general path.
   */
  @Override
  public Planned plan(Connection connection, List<NewPlan> plans, long seenMicros) {
    return new Planned(seenMicros, Planned.none(plans.size()));
  }

  /**
   * Returns the positions of the tasks that this transaction has copied to the kept records. Their live rows still
   * exist.
   */
  private BitSet finished(Connection connection, List<AttemptEnd> settlements) throws SQLException {
    ParameterTable values = statements.values("id", "token");
    settlements.forEach(item -> values.next().add(item.id()).add(item.token()));
    return statements.places(connection, finished.with("wanted", values.with()).text(), values);
  }

  /** Returns an SQL expression that maps the queue of a task to its retention, in milliseconds. */
  private static String retention(List<Retention> retentions, long otherMillis) {
    StringBuilder cases = new StringBuilder("CASE task.queue");
    for (Retention retention : retentions) {
      cases.append(" WHEN ").append(retention.queue()).append(" THEN ").append(retention.millis());
    }
    return retentions.isEmpty() ? Long.toString(otherMillis) : cases + " ELSE " + otherMillis + " END";
  }
}
