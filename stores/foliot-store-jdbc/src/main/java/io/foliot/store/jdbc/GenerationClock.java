package io.foliot.store.jdbc;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The database's clock as the source of generations. Any thread.
 *
 * <p>Generations ahead of the clock (the clock was set back, or a key is reset more than once in a microsecond) raise
 * the floor before a caller gets them, so that no later task of the key gets a smaller generation.
 */
final class GenerationClock {
  private final Dialect dialect;
  /** The latest reading of the clock by any statement of this process. */
  private final AtomicLong seenMicros = new AtomicLong();

  GenerationClock(Dialect dialect) {
    this.dialect = dialect;
  }

  /** Records a reading of the clock. */
  void seen(long micros) {
    seenMicros.accumulateAndGet(micros, Math::max);
  }

  /** Returns the latest reading. */
  long seen() {
    return seenMicros.get();
  }

  /** Ensures that no generation up to this one is given out again. */
  void raise(Session session, long generation) throws SQLException {
    raiseFloor(session, Math.addExact(generation, 1));
  }

  /** Ensures that no smaller generation than this one is given out. */
  void raiseFloor(Session session, long floor) throws SQLException {
    int rows = session.apart(connection -> dialect.clock().raiseFloor(connection, floor));
    assert rows <= 1 : rows;
  }
}
