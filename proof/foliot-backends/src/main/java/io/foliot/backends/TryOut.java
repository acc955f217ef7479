package io.foliot.backends;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * Starts a server of this package with an empty database, and prints the command with which {@code ./foliot server}
 * connects to it. For PostgreSQL and MariaDB, it also prints the environment variable with which the examples connect
 * to it. An interrupt (Ctrl-C) ends the server, and removes the files of the server. Run it from the root of the
 * project:
 *
 * <pre>{@code
 * mvn -q -pl :foliot-backends -Ptry-out process-classes -Dserver=postgresql
 * mvn -q -pl :foliot-backends -Ptry-out process-classes -Dserver="mariadb innodb-buffer-pool-size=2G"
 * }</pre>
 */
public final class TryOut {
  private TryOut() {}

  /**
   * Runs a server until this program is interrupted.
   *
   * @param args {@code postgresql}, {@code mariadb} or {@code redis}, then settings of that server as
   *     {@code name=value}
   */
  public static void main(String[] args) throws InterruptedException {
    Map<String, String> settings = Arrays.stream(args).skip(1).map(setting -> setting.split("=", 2))
        .collect(Collectors.toMap(setting -> setting[0], setting -> setting[1]));
    switch (args.length == 0 ? "" : args[0]) {
      case "postgresql" -> serve(PostgresServer.start(settings));
      case "mariadb" -> serve(MariaDbServer.start(settings));
      case "redis" -> serve(RedisServer.start(settings));
      default -> {
        System.err.println("the server is missing or unknown: pass -Dserver=postgresql, mariadb or redis");
        System.exit(2);
      }
    }
  }

  private static void serve(Server server) throws InterruptedException {
    System.out.println(switch (server) {
      case PostgresServer postgres -> command(postgres.createDatabase());
      case MariaDbServer mariaDb -> command(mariaDb.createDatabase());
      case RedisServer redis -> "./foliot server --store " + redis.uri();
    });
    // Waits forever: the server ends with this JVM.
    new CountDownLatch(1).await();
  }

  private static String command(Database database) {
    String url = database.jdbcUrl();
    return "FOLIOT_STORE_PASSWORD=" + database.password() + " ./foliot server --store " + url + " --store-user "
        + database.user() + "\nexport DATABASE_URL='" + url + (database.options().isEmpty() ? "?" : "&") + "user="
        + database.user() + "&password=" + database.password() + "'";
  }
}
