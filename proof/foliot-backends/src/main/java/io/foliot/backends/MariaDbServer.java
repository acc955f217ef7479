package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * MariaDB, configured to lose nothing that it has confirmed: InnoDB's log is synced at every commit, its doublewrite
 * buffer is on, and there is no binary log.
 */
public final class MariaDbServer implements Server {
  private static final String USER = "foliot";
  private static final String FIRST_DATABASE = "first";
  private static final String LOG_FILE_SIZE = "256M";

  private final Path folder;
  private final String password;
  private final int port;
  private final ServerProcess process;
  private final AtomicInteger databases = new AtomicInteger();

  private MariaDbServer(Path folder, Map<String, String> settings, String password) {
    this.folder = folder;
    this.password = password;
    port = ServerProcess.freePort();
    process = new ServerProcess("MariaDB", command(settings), folder);
  }

  /** Starts a server with the settings that the benchmarks of this project use. */
  public static MariaDbServer start() {
    return start(Map.of());
  }

  /**
   * Starts a server.
   *
   * @param settings settings by their option names, such as {@code innodb-buffer-pool-size}; they override those of
   *     this class
   */
  public static MariaDbServer start(Map<String, String> settings) {
    Path folder = Folder.create("mariadb");
    String password = UUID.randomUUID().toString();
    try {
      Files.createDirectory(folder.resolve("data"));
      Path share = Program.mariaDb().resolve("share");
      String tables = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
          + Files.readString(share.resolve("mariadb_system_tables.sql"))
          + Files.readString(share.resolve("mariadb_performance_tables.sql"))
          + Files.readString(share.resolve("mariadb_system_tables_data.sql"));
      List<String> bootstrap = base(folder);
      bootstrap.add("--bootstrap");
      Command.run(bootstrap, Files.writeString(folder.resolve("system-tables.sql"), tables));
      // The server runs this file at each start. The file creates one user with a password, and removes root.
      Files.writeString(folder.resolve("init.sql"),
          "DELETE FROM mysql.global_priv WHERE User = 'root';\nFLUSH PRIVILEGES;\nCREATE USER IF NOT EXISTS " + USER
              + "@'127.0.0.1' IDENTIFIED BY '" + password + "';\nGRANT ALL ON *.* TO " + USER
              + "@'127.0.0.1' WITH GRANT OPTION;\nCREATE DATABASE IF NOT EXISTS " + FIRST_DATABASE + ";\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new MariaDbServer(folder, settings, password).started();
  }

  private static List<String> base(Path folder) {
    Path program = Program.mariaDb();
    List<String> command = new ArrayList<>(List.of(program.resolve("bin/mariadbd").toString(), "--no-defaults",
        "--basedir=" + program, "--lc-messages-dir=" + program.resolve("share"), "--datadir=" + folder.resolve("data"),
        "--innodb-log-file-size=" + LOG_FILE_SIZE,
        // A starting server removes the temporary tables of all other servers that have the same temporary folder.
        "--tmpdir=" + folder));
    if (Program.asRoot()) {
      command.add("--user=root");
    }
    return command;
  }

  private List<String> command(Map<String, String> wanted) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("bind-address", "127.0.0.1");
    // This path is relative to the data folder, because the path of a socket is limited to about 100 bytes.
    all.put("socket", "mariadb.sock");
    all.put("pid-file", "mariadb.pid");
    all.put("init-file", folder.resolve("init.sql").toString());
    all.put("skip-name-resolve", "ON");
    // TLS is off, because measurements would otherwise include encryption. The other servers do not encrypt.
    all.put("ssl", "OFF");
    all.put("innodb-flush-log-at-trx-commit", "1");
    all.put("innodb-doublewrite", "ON");
    all.put("innodb-buffer-pool-size", "256M");
    all.put("character-set-server", "utf8mb4");
    all.putAll(wanted);
    List<String> command = base(folder);
    command.add("--port=" + port);
    command.add("--skip-log-bin");
    all.forEach((name, value) -> command.add("--" + name + "=" + value));
    return command;
  }

  private MariaDbServer started() {
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
    return database(FIRST_DATABASE);
  }

  private Database database(String name) {
    // The driver would otherwise require encryption, which is off here.
    return Database.local("mariadb", port, name, "?sslMode=disable", USER, password);
  }

  /** Creates an empty database, so that each test class can have its own. */
  public Database createDatabase() {
    String name = "d" + databases.incrementAndGet();
    try (Connection connection = database().connect(); Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
    } catch (SQLException e) {
      throw new IllegalStateException("the server refused to create a database: name=" + name, e);
    }
    return database(name);
  }

  /** Returns the JDBC URL of {@link #database}. */
  public String jdbcUrl() {
    return database().jdbcUrl();
  }

  /** Returns the name of the user with all rights. */
  public String user() {
    return USER;
  }

  /** Returns the password of {@link #user}. */
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

  @Override
  public void stop() {
    process.stop("TERM");
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

  @Override
  public void close() {
    process.close();
  }
}
