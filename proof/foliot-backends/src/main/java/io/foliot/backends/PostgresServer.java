package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * PostgreSQL, configured to lose nothing that it has confirmed: {@code fsync}, synchronous commits and full-page writes
 * are on.
 */
public final class PostgresServer implements Server {
  private static final String USER = "foliot";
  private static final String FIRST_DATABASE = "postgres";
  private static final Duration REPLAY_BOUND = Duration.ofSeconds(60);

  /**
   * Files that a replica does not get: the files of the process, the replication slots, and the WAL, which is streamed
   * instead.
   */
  private static final List<String> NOT_COPIED = List.of("postmaster.pid", "postmaster.opts", "pg_wal", "pg_replslot");

  private final Path folder;
  private final Map<String, String> settings;
  private final String password;
  private final int port;
  private final ServerProcess process;
  private final AtomicInteger databases = new AtomicInteger();

  private PostgresServer(Path folder, Map<String, String> settings, String password) {
    this.folder = folder;
    this.settings = Map.copyOf(settings);
    this.password = password;
    port = ServerProcess.freePort();
    process = new ServerProcess("PostgreSQL", command(settings), folder);
  }

  /** Starts a server with the settings that the benchmarks of this project use. */
  public static PostgresServer start() {
    return start(Map.of());
  }

  /**
   * Starts a server.
   *
   * @param settings settings by their names in {@code postgresql.conf}; they override those of this class
   */
  public static PostgresServer start(Map<String, String> settings) {
    Path folder = Folder.create("postgres");
    String password = UUID.randomUUID().toString();
    try {
      Path secret = Files.writeString(folder.resolve("password"), password);
      Command.run(asUser(List.of(Program.postgres().resolve("bin/initdb").toString(), "--pgdata",
          folder.resolve("data").toString(), "--username", USER, "--auth", "scram-sha-256", "--pwfile",
          secret.toString(), "--encoding", "UTF8", "--locale", "C", "--no-instructions",
          // Nothing is confirmed yet, so the new files need no sync.
          "--no-sync")).toArray(String[]::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new PostgresServer(folder, settings, password).started();
  }

  /**
   * Returns the command that runs PostgreSQL. PostgreSQL refuses to run as root. So if this process runs as root, the
   * command runs in a user namespace of its own: there PostgreSQL is an unprivileged user, and still owns its files.
   */
  private static List<String> asUser(List<String> command) {
    if (!Program.asRoot()) {
      return command;
    }
    List<String> wrapped = new ArrayList<>(List.of("unshare", "--user"));
    wrapped.addAll(command);
    return wrapped;
  }

  private List<String> command(Map<String, String> wanted) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("listen_addresses", "127.0.0.1");
    all.put("unix_socket_directories", "");
    all.put("fsync", "on");
    all.put("synchronous_commit", "on");
    all.put("full_page_writes", "on");
    all.put("shared_buffers", "256MB");
    // With the default of 1 GB, a load of several minutes would spend much of its time in checkpoints.
    all.put("max_wal_size", "4GB");
    all.putAll(wanted);
    List<String> command = new ArrayList<>(List.of(Program.postgres().resolve("bin/postgres").toString(), "-D",
        folder.resolve("data").toString(), "-p", Integer.toString(port)));
    all.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
    return asUser(command);
  }

  private PostgresServer started() {
    try {
      process.start(database()::ping);
      return this;
    } catch (IllegalStateException e) {
      close();
      throw e;
    }
  }

  /** Returns the database that exists from the start. */
  public Database database() {
    return Database.local("postgresql", port, FIRST_DATABASE, "", USER, password);
  }

  /** Creates an empty database, so that each test class can have its own. */
  public Database createDatabase() {
    String name = "d" + databases.incrementAndGet();
    execute("CREATE DATABASE " + name);
    return Database.local("postgresql", port, name, "", USER, password);
  }

  /** Returns the JDBC URL of {@link #database}. */
  public String jdbcUrl() {
    return database().jdbcUrl();
  }

  /** Returns the superuser's name. */
  public String user() {
    return USER;
  }

  /** Returns the superuser's password. */
  public String password() {
    return password;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public void kill() {
    process.kill();
  }

  /** Shuts the server down fast: running transactions are rolled back. */
  @Override
  public void stop() {
    process.stop("INT");
  }

  @Override
  public void restart() {
    process.kill();
    process.start(database()::ping);
  }

  @Override
  public void pause() {
    process.pause();
  }

  @Override
  public void resume() {
    process.resume();
  }

  /**
   * Starts a replica of this server from a copy of its files, with the same settings. The replica streams the commits
   * of this server, and accepts queries. Replication is asynchronous unless {@code synchronous_standby_names} of this
   * server contains the replica.
   */
  public PostgresServer replica() {
    Path copy = Folder.create("postgres-replica");
    Path data = copy.resolve("data");
    try (Connection connection = database().connect(); Statement statement = connection.createStatement()) {
      // A backup belongs to the session that began it.
      statement.execute("SELECT pg_backup_start('replica', true)");
      copyData(folder.resolve("data"), data);
      try (ResultSet label = statement.executeQuery("SELECT labelfile FROM pg_backup_stop(false)")) {
        label.next();
        Files.writeString(data.resolve("backup_label"), label.getString(1));
      }
      Files.createFile(data.resolve("standby.signal"));
      Files.setPosixFilePermissions(data, Files.getPosixFilePermissions(folder.resolve("data")));
    } catch (SQLException e) {
      throw new IllegalStateException("cannot copy the server's files for a replica", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, String> standby = new LinkedHashMap<>(settings);
    standby.put("primary_conninfo", "host=127.0.0.1 port=" + port + " user=" + USER + " password=" + password);
    return new PostgresServer(copy, standby, password).started();
  }

  private static void copyData(Path from, Path to) throws IOException {
    List<Path> files;
    try (Stream<Path> tree = Files.walk(from)) {
      files = tree.filter(file -> file.getNameCount() == from.getNameCount()
          || !NOT_COPIED.contains(from.relativize(file).getName(0).toString())).toList();
    }
    for (Path file : files) {
      Path target = to.resolve(from.relativize(file));
      if (Files.isDirectory(file)) {
        Files.createDirectory(target);
      } else {
        try {
          Files.copy(file, target);
        } catch (NoSuchFileException e) {
          // The server dropped the file during the copy; the replay of the WAL drops it from the copy, too.
        }
      }
    }
    Files.createDirectory(to.resolve("pg_wal"));
    Files.createDirectory(to.resolve("pg_replslot"));
  }

  /** Waits until this replica has replayed everything that the primary has committed so far. */
  public void awaitCaughtUpWith(PostgresServer primary) {
    String position = primary.query("SELECT pg_current_wal_flush_lsn()");
    Await.until("the replica has caught up", REPLAY_BOUND,
        () -> query("SELECT coalesce(pg_last_wal_replay_lsn() >= '" + position + "', false)").equals("t"));
  }

  /** Promotes this replica to a primary, and waits until it accepts writes. */
  public void promote() {
    if (!query("SELECT pg_promote(true, " + REPLAY_BOUND.toSeconds() + ")").equals("t")) {
      throw new IllegalStateException("the replica did not become a primary in time: bound=" + REPLAY_BOUND);
    }
  }

  private void execute(String sql) {
    try (Connection connection = database().connect(); Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException("the server refused: sql=" + sql, e);
    }
  }

  private String query(String sql) {
    try (Connection connection = database().connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    } catch (SQLException e) {
      throw new IllegalStateException("the server refused: sql=" + sql, e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
