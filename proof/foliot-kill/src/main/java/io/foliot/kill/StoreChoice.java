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
 * @param options the command-line options that select the store
 * @param environment the environment variables of the server. Other users of the machine cannot read them
 */
record StoreChoice(List<String> options, Map<String, String> environment) {
  StoreChoice {
    options = List.copyOf(options);
    environment = Map.copyOf(environment);
  }

  /** Returns the store in a folder, for one server. */
  static StoreChoice folder(Path data) {
    return new StoreChoice(List.of("--data", data.toString()), Map.of());
  }

  /** Returns the store in a database, which several servers may share. */
  static StoreChoice database(Database database) {
    return new StoreChoice(List.of("--store", database.jdbcUrl(), "--store-user", database.user()),
        Map.of("FOLIOT_STORE_PASSWORD", database.password()));
  }

  /** Returns the store in the Redis behind a proxy. Several servers may share this store. */
  static StoreChoice redis(TcpProxy proxy) {
    return new StoreChoice(List.of("--store", "redis://" + proxy.host() + ":" + proxy.port()), Map.of());
  }

  /** Returns this choice with one more option for the server. */
  StoreChoice with(String option, String value) {
    List<String> more = new ArrayList<>(options);
    more.addAll(List.of(option, value));
    return new StoreChoice(more, environment);
  }
}
