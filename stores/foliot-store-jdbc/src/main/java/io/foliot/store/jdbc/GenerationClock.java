package io.foliot.store.jdbc;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The database's clock as the source of generations. Thread-safe.
 *
 * <p>The floor is the smallest generation that may be given out. A generation is ahead of the clock if the clock was
 * set back, or if a key was reset more than once in a microsecond. The floor is raised above such a generation before a
 * caller gets it. So no later task of the key gets a smaller generation.
 */
final class GenerationClock {
  private final Dialect dialect;
  /** The largest reading of the clock by any statement of this process, in microseconds; 0 before the first. */
  private final AtomicLong seenMicros = new AtomicLong();

  GenerationClock(Dialect dialect) {
    this.dialect = dialect;
  }

  /** Records a reading of the clock, in microseconds since 1970. */
  void seen(long micros) {
    seenMicros.accumulateAndGet(micros, Math::max);
  }

  /** Returns the largest reading, in microseconds since 1970, or 0 before the first reading. */
  long seen() {
    return seenMicros.get();
  }

  /** Ensures that no generation up to and including this one is given out again. */
  void raise(Session session, long generation) throws SQLException {
    raiseFloor(session, Math.addExact(generation, 1));
  }

  /** Ensures that no smaller generation than this one is given out. */
  void raiseFloor(Session session, long floor) throws SQLException {
    int rows = session.apart(connection -> dialect.clock().raiseFloor(connection, floor));
    assert rows <= 1 : rows;
  }
}
