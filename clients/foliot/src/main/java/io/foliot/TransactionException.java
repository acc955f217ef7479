package io.foliot;

import java.sql.SQLException;

/** Thrown if a statement fails in the caller's transaction. The caller must roll the transaction back. */
public final class TransactionException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final SQLException sqlException;

  TransactionException(SQLException cause) {
    super("the transaction refused a statement of Foliot; roll it back: " + cause.getMessage(), cause);
    sqlException = cause;
  }

  /** Returns the database's exception. Its SQL state shows whether the transaction may be repeated. */
  public SQLException sqlException() {
    return sqlException;
  }
}
