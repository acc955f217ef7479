package io.foliot.kill;

import org.junit.jupiter.api.Tag;

/**
 * Two servers over one PostgreSQL to which everything happens. As often as wanted, and with the seed of an earlier run:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=PostgresFaultsTest -Dsurefire.failIfNoSpecifiedTests=false -Dfaults=100 -Dseed=1}.
 */
@Tag("long")
class PostgresFaultsTest extends DatabaseFaults {
  @Override
  FaultyDatabase start() {
    return new FaultyPostgres();
  }
}
