package io.foliot;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.core.Submission;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Draft;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.engine.Engine;
import io.foliot.store.jdbc.TransactionalStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** The calls of an engine that take part in a transaction of the database that stores its tasks. */
final class JdbcTransaction implements Backend.InTransaction {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final Engine engine;
  private final TransactionalStore tables;
  private final Connection transaction;

  private JdbcTransaction(Engine engine, TransactionalStore tables, Connection transaction) {
    this.engine = engine;
    this.tables = tables;
    this.transaction = transaction;
  }

  /**
   * Returns the calls that take part in a transaction.
   *
   * @throws UnsupportedOperationException if the store is not in a database
   */
  static JdbcTransaction of(Engine engine, TaskStore store, Connection transaction) {
    TransactionalStore tables = store.capability(TransactionalStore.class)
        .orElseThrow(() -> EngineBackend.noTransaction(store));
    return new JdbcTransaction(engine, tables, transaction);
  }

  @Override
  public Submitted submit(Submission submission) {
    List<Draft> drafts = engine.drafts(List.of(submission));
    return EngineBackend.submitted(first(() -> tables.submit(transaction, drafts)));
  }

  @Override
  public boolean touch(String queue, String key, Duration delay) {
    Limits.ensureDuration("delay", delay);
    Due due = Due.after(Math.ceilDiv(delay.toNanos(), NANOS_PER_MILLI));
    Touch touch = new Touch(new TaskRef.ByKey(queue, key), due);
    engine.ensureAcceptsWrites();
    return EngineBackend.touched(first(() -> tables.touch(transaction, List.of(touch))));
  }

  @Override
  public Cancellation cancel(String queue, String key) {
    engine.ensureAcceptsWrites();
    return first(() -> tables.cancel(transaction, List.of(new TaskRef.ByKey(queue, key)))).kind();
  }

  /** A call to the store with one item. */
  @FunctionalInterface
  private interface Statement<R> {
    List<R> execute() throws SQLException;
  }

  private static <R> R first(Statement<R> statement) {
    try {
      return statement.execute().getFirst();
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }
}
