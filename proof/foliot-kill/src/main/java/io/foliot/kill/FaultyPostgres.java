package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** PostgreSQL, configured to lose nothing that it has confirmed. */
final class FaultyPostgres implements FaultyDatabase {
  private static final Duration BOUND = Duration.ofSeconds(60);

  /** Time for which a replica answers only queries before it is promoted. */
  private static final long STANDBY_MILLIS = 3_000;

  private final PostgresServer server = PostgresServer.start();
  private final Database database = server.createDatabase();
  private @Nullable PostgresServer replica;

  @Override
  public PostgresServer server() {
    return server;
  }

  @Override
  public Database database() {
    return database;
  }

  @Override
  public Database owner() {
    return database;
  }

  @Override
  public void endSessions() {
    run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'foliot'");
  }

  @Override
  public void readOnly(boolean refuses) {
    run("ALTER SYSTEM SET default_transaction_read_only = " + (refuses ? "on" : "off"), "SELECT pg_reload_conf()");
  }

  @Override
  public String lockTable(String table) {
    return "LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE";
  }

  /** Returns the kinds of commits, each a single statement in auto-commit mode. */
  @Override
  public Map<String, Predicate<String>> commits() {
    return Map.of("a submit", sql -> sql.contains("INSERT INTO foliot_task"), "a claim",
        sql -> sql.contains("UPDATE foliot_task") && sql.contains("token ="), "a touch",
        sql -> sql.contains("UPDATE foliot_task") && !sql.contains("token ="), "an end",
        sql -> sql.contains("DELETE FROM foliot_task"));
  }

  /**
   * Starts a replica, and returns a failover to it. The replica takes over the address of the server and at first
   * answers only queries. When the fault is healed, the replica accepts writes.
   */
  @Override
  public List<InjectedFault> atLast(TcpProxy proxy) {
    PostgresServer standby = synchronousReplica();
    return List.of(
        new InjectedFault("a read-only replica takes over, and is promoted", Event.Fault.KILL,
            InjectedFault.Effect.OUTAGE, () -> {
              server.kill();
              proxy.leadTo(standby);
              proxy.cut();
              Await.pause(STANDBY_MILLIS);
            }, standby::promote));
  }

  /** Starts a synchronous replica: the server confirms a commit only when the replica has it. */
  private PostgresServer synchronousReplica() {
    PostgresServer standby = server.replica();
    replica = standby;
    standby.awaitCaughtUpWith(server);
    run("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
    Await.until("the replica is synchronous", BOUND,
        () -> query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").equals(List.of("1")));
    return standby;
  }

  @Override
  public void close() {
    if (replica != null) {
      replica.close();
    }
    server.close();
  }
}
