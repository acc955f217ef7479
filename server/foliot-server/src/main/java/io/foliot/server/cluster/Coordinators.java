package io.foliot.server.cluster;

import io.foliot.cluster.zookeeper.ZooKeeperCoordinator;
import io.foliot.cluster.zookeeper.ZooKeeperOptions;
import io.foliot.cluster.zookeeper.ZooKeeperOptions.Login;
import io.foliot.cluster.zookeeper.ZooKeeperOptions.Tls;
import io.foliot.core.EventLoop;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.engine.coordination.StoreCoordinator;
import io.foliot.server.StartException;
import io.foliot.server.config.FoliotConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The coordinators that a configuration can name. Only this class refers to all of them. */
public final class Coordinators {
  private Coordinators() {}

  /**
   * Returns a coordinator that has neither connected nor joined.
   *
   * @throws StartException if the configuration names no usable coordinator
   */
  public static Coordinator of(FoliotConfig.Cluster config, TimeSource clock, TaskStore store) {
    String wanted = config.coordinator();
    if (wanted.equals(SoleCoordinator.KIND) || (wanted.isEmpty() && !store.isShared())) {
      return new SoleCoordinator();
    }
    if (!store.isShared()) {
      throw refused(
          "a store of one process cannot be shared, so there are no other nodes to find;"
              + " use none, or a store that nodes can share:"
              + " jdbc:..., redis://...",
          null);
    }
    if (!config.isZooKeeper()) {
      return new StoreCoordinator(store, clock, loop(clock));
    }
    try {
      return new ZooKeeperCoordinator(options(config), clock, loop(clock));
    } catch (IllegalArgumentException e) {
      throw refused(e.getMessage(), e);
    }
  }

  private static StartException refused(@Nullable String why, @Nullable Throwable cause) {
    return new StartException(StartException.Reason.CONFIGURATION, "cluster.coordinator (--cluster): " + why, cause);
  }

  private static EventLoop loop(TimeSource clock) {
    return new ThreadEventLoop(clock, Thread.ofPlatform().name("foliot-coordination-", 0).factory());
  }

  private static ZooKeeperOptions options(FoliotConfig.Cluster config) {
    FoliotConfig.Cluster.Access access = config.access();
    ZooKeeperOptions options = ZooKeeperOptions.builder(config.coordinator()).sessionTimeout(access.sessionTimeout())
        .login(login(access)).build();
    if (access.trustStore().isEmpty()) {
      return options;
    }
    Path keyStore = access.keyStore().isEmpty() ? null : Path.of(access.keyStore());
    return options.toBuilder()
        .tls(new Tls(Path.of(access.trustStore()), access.trustStorePassword(), keyStore, access.keyStorePassword()))
        .build();
  }

  private static Login login(FoliotConfig.Cluster.Access access) {
    if (!access.sasl().isEmpty()) {
      return new Login.Sasl(access.sasl());
    }
    return access.user().isEmpty() ? new Login.Anonymous() : new Login.Digest(access.user(), access.password());
  }
}
