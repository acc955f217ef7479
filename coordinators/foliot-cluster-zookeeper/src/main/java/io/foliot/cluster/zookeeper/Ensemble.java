package io.foliot.cluster.zookeeper;

import io.foliot.cluster.zookeeper.ZooKeeperOptions.Login;
import io.foliot.cluster.zookeeper.ZooKeeperOptions.Tls;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A client of a ZooKeeper ensemble, through Curator. Each request to ZooKeeper returns a stage. The stage completes on
 * a thread of ZooKeeper or of Curator, or at once if Curator refuses the request. A stage fails with a
 * {@link KeeperException}, or with the exception that Curator threw when it refused the request. This class never
 * repeats a request.
 */
final class Ensemble implements AutoCloseable {
  private static final int ANY_VERSION = -1;

  private final CuratorFramework curator;

  /**
   * Creates a client that begins to connect.
   *
   * @param changes called on Curator's thread, with this client, at each change of its connection
   */
  Ensemble(ZooKeeperOptions options, BiConsumer<Ensemble, ConnectionState> changes) {
    CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder().connectString(options.servers())
        .sessionTimeoutMs(Math.toIntExact(options.sessionTimeout().toMillis()))
        .connectionTimeoutMs(Math.toIntExact(options.connectionTimeout().toMillis()))
        // Curator does not retry, because the caller polls again each second.
        .retryPolicy(new RetryNTimes(0, 0))
        // The configured addresses are kept. With a proxy or containers, the addresses that the servers report may not
        // be reachable from this machine.
        .ensembleTracker(false).zkClientConfig(config(options));
    if (!(options.login() instanceof Login.Anonymous)) {
      builder.aclProvider(new OwnersOnly());
    }
    if (options.login() instanceof Login.Digest digest) {
      builder.authorization("digest",
          (digest.user() + ":" + digest.password()).getBytes(StandardCharsets.UTF_8));
    }
    curator = builder.build();
    curator.getConnectionStateListenable().addListener((client, state) -> changes.accept(this, state));
    curator.start();
  }

  private static ZKClientConfig config(ZooKeeperOptions options) {
    ZKClientConfig config = new ZKClientConfig();
    boolean sasl = options.login() instanceof Login.Sasl;
    config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, Boolean.toString(sasl));
    if (options.login() instanceof Login.Sasl login) {
      config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, login.section());
    }
    Tls tls = options.tls();
    config.setProperty(ZKClientConfig.SECURE_CLIENT, Boolean.toString(tls != null));
    if (tls != null) {
      config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
      config.setProperty("zookeeper.ssl.trustStore.location", tls.trustStore().toString());
      config.setProperty("zookeeper.ssl.trustStore.password", tls.trustPassword());
      config.setProperty("zookeeper.ssl.hostnameVerification", "true");
      if (tls.keyStore() != null) {
        config.setProperty("zookeeper.ssl.keyStore.location", tls.keyStore().toString());
        config.setProperty("zookeeper.ssl.keyStore.password", tls.keyPassword());
      }
    }
    return config;
  }

  /** The access lists of created nodes: only the user of the session that created a node may read or change it. */
  private static final class OwnersOnly implements ACLProvider {
    // ZooKeeper calls contains(null) on this list. List.of is not used, because its contains(null) throws.
    private static final List<ACL> OWNERS = Collections.singletonList(new ACL(ZooDefs.Perms.ALL, new Id("auth", "")));

    @Override
    public List<ACL> getDefaultAcl() {
      return OWNERS;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
      return OWNERS;
    }
  }

  boolean isConnected() {
    return curator.getZookeeperClient().isConnected();
  }

  /** Returns the negotiated session timeout in milliseconds; 0 before ZooKeeper was first reached. */
  long sessionTimeoutMillis() {
    return curator.getZookeeperClient().getLastNegotiatedSessionTimeoutMs();
  }

  /**
   * Returns the id of the session that owns this client's ephemeral nodes.
   *
   * @throws IllegalStateException if there is no session
   */
  long session() {
    try {
      return curator.getZookeeperClient().getZooKeeper().getSessionId();
    } catch (Exception e) {
      throw new IllegalStateException("there is no session with ZooKeeper", e);
    }
  }

  /**
   * Creates a candidate of Curator's election. The candidate with the smallest sequential node leads, and each of the
   * others watches its predecessor.
   */
  LeaderLatch latch(String path, String id) {
    return new LeaderLatch(curator, path, id);
  }

  /**
   * The nodes under a path.
   *
   * @param names the names of the nodes, without the path
   * @param changeId the id of ZooKeeper's latest transaction that created or deleted such a node; 0 if the path does
   *     not exist
   */
  record Children(List<String> names, long changeId) {}

  /** The content of a node. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Content(byte[] bytes, Stat stat) {}

  /** Returns the state of a node, or null if it does not exist. The watcher, if any, is called at the next change. */
  CompletableFuture<@Nullable Stat> stat(String path, @Nullable Watcher watcher) {
    return call(callback -> {
      var call = curator.checkExists();
      (watcher == null ? call : call.usingWatcher(watcher)).inBackground(callback).forPath(path);
    }, Set.of(Code.NONODE)).thenApply(CuratorEvent::getStat);
  }

  /**
   * Returns the nodes under a path; none if the path does not exist. The watcher, if any, is called when the next node
   * is created or deleted under an existing path.
   */
  CompletableFuture<Children> children(String path, @Nullable Watcher watcher) {
    return call(callback -> {
      var call = curator.getChildren();
      (watcher == null ? call : call.usingWatcher(watcher)).inBackground(callback).forPath(path);
    }, Set.of(Code.NONODE)).thenApply(
        event -> isOk(event)
            ? new Children(event.getChildren(), event.getStat().getPzxid())
            : new Children(List.of(), 0));
  }

  /** Returns the content of a node, or null if it does not exist. */
  CompletableFuture<@Nullable Content> content(String path) {
    return call(callback -> curator.getData().inBackground(callback).forPath(path), Set.of(Code.NONODE))
        .thenApply(event -> isOk(event) ? new Content(event.getData(), event.getStat()) : null);
  }

  /** Creates a node and the missing nodes above it. Returns false if the node exists already. */
  CompletableFuture<Boolean> create(String path, byte[] bytes, CreateMode mode) {
    return call(
        callback -> curator.create().creatingParentsIfNeeded().withMode(mode).inBackground(callback).forPath(path,
            bytes),
        Set.of(Code.NODEEXISTS)).thenApply(Ensemble::isOk);
  }

  /** Replaces a node with an ephemeral node of this session, atomically. Returns false if the node is gone. */
  CompletableFuture<Boolean> replace(String path, byte[] bytes) {
    return call(
        callback -> curator.transaction().inBackground(callback).forOperations(
            curator.transactionOp().delete().withVersion(ANY_VERSION).forPath(path),
            curator.transactionOp().create().withMode(CreateMode.EPHEMERAL).forPath(path, bytes)),
        Set.of(Code.NONODE)).thenApply(Ensemble::isOk);
  }

  /** Changes the content of a node. Returns false if the node has changed since that version, or is gone. */
  CompletableFuture<Boolean> write(String path, byte[] bytes, int version) {
    return call(callback -> curator.setData().withVersion(version).inBackground(callback).forPath(path, bytes),
        Set.of(Code.BADVERSION, Code.NONODE)).thenApply(Ensemble::isOk);
  }

  @FunctionalInterface
  private interface Call {
    void with(BackgroundCallback callback) throws Exception;
  }

  private static CompletableFuture<CuratorEvent> call(Call call, Set<Code> expected) {
    CompletableFuture<CuratorEvent> response = new CompletableFuture<>();
    try {
      call.with((client, event) -> response.complete(event));
    } catch (Exception e) {
      response.completeExceptionally(e);
    }
    return response.thenApply(event -> {
      Code code = Code.get(event.getResultCode());
      if (isOk(event) || (code != null && expected.contains(code))) {
        return event;
      }
      throw new CompletionException(KeeperException.create(code == null ? Code.SYSTEMERROR : code));
    });
  }

  private static boolean isOk(CuratorEvent event) {
    return event.getResultCode() == Code.OK.intValue();
  }

  /**
   * Ends the session, which atomically deletes all ephemeral nodes of the session. Blocks until ZooKeeper has
   * responded, or until the client stops waiting.
   */
  @Override
  public void close() {
    curator.close();
  }
}
