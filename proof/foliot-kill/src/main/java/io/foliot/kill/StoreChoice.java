package io.foliot.kill;

import io.foliot.backends.Database;
import io.foliot.backends.TcpProxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The store of a server.
 *
 * @param options its options of the command line
 * @param environment its variables of the environment, which others cannot read
 */
record StoreChoice(List<String> options, Map<String, String> environment) {
  StoreChoice {
    options = List.copyOf(options);
    environment = Map.copyOf(environment);
  }

  /** A folder of its own. */
  static StoreChoice folder(Path data) {
    return new StoreChoice(List.of("--data", data.toString()), Map.of());
  }

  /** A database, which several servers may share. */
  static StoreChoice database(Database database) {
    return new StoreChoice(List.of("--store", database.jdbcUrl(), "--store-user", database.user()),
        Map.of("FOLIOT_STORE_PASSWORD", database.password()));
  }

  /** The Redis behind a proxy, which several servers may share. */
  static StoreChoice redis(TcpProxy proxy) {
    return new StoreChoice(List.of("--store", "redis://" + proxy.host() + ":" + proxy.port()), Map.of());
  }

  /** The same with another option for the server. */
  StoreChoice with(String option, String value) {
    List<String> more = new ArrayList<>(options);
    more.addAll(List.of(option, value));
    return new StoreChoice(more, environment);
  }
}
