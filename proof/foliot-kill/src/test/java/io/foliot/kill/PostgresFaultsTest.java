package io.foliot.kill;

import org.junit.jupiter.api.Tag;

/**
 * Two servers over one PostgreSQL, under many faults. To choose the number of rounds and the seed:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=PostgresFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class PostgresFaultsTest extends DatabaseFaults {
  @Override
  FaultyDatabase start() {
    return new FaultyPostgres();
  }
}
