package io.foliot.server.store;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import io.foliot.server.config.FoliotConfig;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.jdbc.JdbcStore;
import io.foliot.store.redis.RedisOptions;
import io.foliot.store.redis.RedisStore;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The stores that a configuration can name. Only this class refers to all of them. */
public final class Stores {
  private static final int MEMORY_SLOTS = 256;

  private Stores() {}

  /**
   * Opens a store.
   *
   * @param onFailure called if an embedded store closes itself
   * @param onSetAside receives tasks that a remote store sets aside because their records cannot be read
   * @throws StoreException if the store cannot be opened
   * @throws IllegalArgumentException if the address of the database or of Redis cannot be used
   */
  public static TaskStore open(FoliotConfig.Store config, TimeSource clock, Consumer<StoreException> onFailure,
      Consumer<SetAside> onSetAside) {
    if (config.kind().equals(FoliotConfig.Store.MEMORY)) {
      SecureRandom random = new SecureRandom();
      return new MemoryStore(MEMORY_SLOTS, clock, () -> new Token(random.nextLong(), random.nextLong()));
    }
    if (config.isRedis()) {
      return RedisStore.open(redis(config).onSetAside(onSetAside).build());
    }
    if (config.isJdbc()) {
      return JdbcStore.open(jdbc(config).onSetAside(onSetAside).build());
    }
    makePrivate(config);
    FoliotConfig.Store.Sizes sizes = config.sizes();
    RocksDbOptions options = RocksDbOptions.builder().onFailure(onFailure).reserveBytes(sizes.reserve())
        .recordCacheBytes(sizes.recordCache()).blockCacheBytes(sizes.blockCache()).writeBufferBytes(sizes.writeBuffer())
        .logBytes(sizes.log()).build();
    return RocksDbStore.open(config.folder(), options, clock);
  }

  /**
   * Returns whether the store of a configuration exists; changes nothing.
   *
   * @throws StoreException if the database or Redis cannot be reached
   * @throws IllegalArgumentException if the address of the database or of Redis cannot be used
   */
  public static boolean exists(FoliotConfig.Store config) {
    if (config.isRedis()) {
      return RedisStore.exists(redis(config).build());
    }
    if (config.kind().equals(FoliotConfig.Store.MEMORY)) {
      return false;
    }
    return config.isJdbc() ? JdbcStore.exists(jdbc(config).build()) : RocksDbStore.exists(config.folder());
  }

  private static RedisOptions.Builder redis(FoliotConfig.Store config) {
    FoliotConfig.Store.Login login = config.login();
    return RedisOptions.builder(withLogin(config.kind(), login)).namespace(login.namespace())
        .waitReplicas(login.waitReplicas());
  }

  private static JdbcOptions.Builder jdbc(FoliotConfig.Store config) {
    FoliotConfig.Store.Login login = config.login();
    return JdbcOptions.builder(config.kind(), ifAny(login.user()), ifAny(login.password()))
        .connections(login.connections());
  }

  // An existing data folder keeps its permissions, because it may contain files of other programs. The subfolder for
  // the store is used only by Foliot.
  private static void makePrivate(FoliotConfig.Store config) {
    try {
      PrivateFiles.ensureFolder(config.data());
      PrivateFiles.ensureOwnFolder(config.folder());
    } catch (IOException e) {
      throw new StoreException("the data folder cannot be used; choose another with --data (store.data): folder="
          + config.data() + ", error=" + e, e);
    }
  }

  private static @Nullable String ifAny(String text) {
    return text.isEmpty() ? null : text;
  }

  /** Returns the address with the user and password of the settings, if they are set. */
  private static String withLogin(String address, FoliotConfig.Store.Login login) {
    if (login.user().isEmpty() && login.password().isEmpty()) {
      return address;
    }
    String before = encoded(login.user()) + ":" + encoded(login.password()) + "@";
    return address.replaceFirst("://", "://" + before);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
