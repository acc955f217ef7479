package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * PgBouncer between clients and a database. It runs the successive transactions of a client in different sessions of
 * the database. There is no Maven artifact of PgBouncer, so it must be installed on the machine.
 */
public final class PgBouncer implements AutoCloseable {
  private static final List<String> PLACES = List.of("/usr/sbin/pgbouncer", "/usr/bin/pgbouncer");

  private final Database behind;
  private final int port;
  private final ServerProcess process;

  private PgBouncer(String program, Database behind, int sessions) throws IOException {
    this.behind = behind;
    port = ServerProcess.freePort();
    Path folder = Folder.create("pgbouncer");
    Path settings = Files.writeString(folder.resolve("pgbouncer.ini"), """
        [databases]
        %s = host=127.0.0.1 port=%d dbname=%s user=%s password=%s
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = any
        pool_mode = transaction
        default_pool_size = %d
        server_round_robin = 1
        ignore_startup_parameters = extra_float_digits
        """.formatted(behind.name(), behind.port(), behind.name(), behind.user(), behind.password(), port, sessions));
    // PgBouncer refuses to run as root.
    List<String> command = new ArrayList<>(Program.asRoot() ? List.of("unshare", "--user") : List.of());
    command.addAll(List.of(program, settings.toString()));
    process = new ServerProcess("PgBouncer", command, folder);
  }

  /**
   * Starts a pooler in front of a database.
   *
   * @param sessions number of sessions with the database, which the pooler uses in turn
   * @throws IllegalStateException if this machine has no PgBouncer
   */
  public static PgBouncer before(Database database, int sessions) {
    String program = PLACES.stream().filter(place -> Files.isExecutable(Path.of(place))).findFirst()
        .orElseThrow(() -> new IllegalStateException("no PgBouncer on this machine: apt-get install pgbouncer"));
    try {
      PgBouncer bouncer = new PgBouncer(program, database, sessions);
      bouncer.process.start(bouncer.database()::ping);
      return bouncer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the database, with the address of the pooler. */
  public Database database() {
    return behind.at(port);
  }

  @Override
  public void close() {
    process.close();
  }
}
