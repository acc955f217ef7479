package io.foliot.store.redis;

import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The connections to the servers, one for each server. Calls on a connection are pipelined. A call that was sent but
 * not answered fails and is not sent again, because it is unknown whether it took effect; only the caller can decide to
 * retry. While a server is unavailable, calls fail at once, and the client tries to connect again forever. Thread-safe.
 */
final class Link implements AutoCloseable {
  private static final Logger LOG = System.getLogger(Link.class.getName());
  /**
   * First word of the error by which a script refuses a call that assumes too few parts ({@link Partitions}). The error
   * ends with a number n: the store has 2^n parts.
   */
  private static final String MOVED = "FOLIOTSLOTS ";
  /** Maximum number of calls on a connection that wait for an answer. Further calls are refused. */
  private static final int MAX_UNDER_WAY = 100_000;
  /** Minimum time between two disconnections from a server that has become a replica. */
  private static final long QUIT_AT_MOST_EVERY_NANOS = 500_000_000;
  private static final long CLOSE_POLL_NANOS = 1_000_000;
  /** Longest pause between attempts to connect. Lettuce's default of half a minute would delay tasks by as much. */
  private static final Duration RECONNECT_EVERY = Duration.ofSeconds(1);
  /** Interval at which the topology of a cluster is read. */
  private static final Duration TOPOLOGY_EVERY = Duration.ofSeconds(30);
  /** Minimum time between two reads of the topology after errors. */
  private static final Duration TOPOLOGY_AT_MOST_EVERY = Duration.ofMillis(500);

  private final AbstractRedisClient client;
  private final StatefulConnection<byte[], byte[]> connection;
  private final Duration timeout;
  private final int waitReplicas;
  private final AtomicLong quitNanos = new AtomicLong(System.nanoTime());
  private volatile Map<Script, Script.Source> scripts = Map.of();
  private final AtomicInteger underWay = new AtomicInteger();
  private volatile boolean closed;

  private Link(AbstractRedisClient client, StatefulConnection<byte[], byte[]> connection, RedisOptions options) {
    this.client = client;
    this.connection = connection;
    timeout = options.timeout();
    waitReplicas = options.waitReplicas();
  }

  /**
   * Connects to the servers. Blocks until a connection is open.
   *
   * @throws StoreException if no server answers
   */
  static Link open(RedisOptions options) {
    try {
      List<RedisURI> uris = uris(options);
      if (uris.size() > 1) {
        return cluster(uris, options);
      }
      Link link = single(uris.getFirst(), options);
      try {
        if (!"1".equals(ServerFacts.info(link).get("cluster_enabled"))) {
          return link;
        }
      } catch (RuntimeException e) {
        link.close();
        throw e;
      }
      link.close();
      return cluster(uris, options);
    } catch (RedisException e) {
      throw new StoreException("Redis refuses the connection or does not answer: " + reason(e), e);
    }
  }

  private static List<RedisURI> uris(RedisOptions options) {
    boolean sentinel = options.uri().startsWith("redis-sentinel") || options.uri().startsWith("rediss-sentinel");
    List<String> texts = sentinel ? List.of(options.uri()) : Arrays.asList(options.uri().split(",", -1));
    List<RedisURI> uris = new ArrayList<>();
    for (String text : texts) {
      try {
        RedisURI uri = RedisURI.create(text);
        uri.setTimeout(options.timeout());
        uris.add(uri);
      } catch (IllegalArgumentException e) {
        // The exception has no cause, because the cause repeats the address with the password.
        throw new IllegalArgumentException(
            "the address of Redis has the form redis://host:6379, rediss://host:6379 with"
                + " TLS, or redis-sentinel://host:26379,host:26379#name");
      }
    }
    return uris;
  }

  private static ClientResources resources(RedisOptions options) {
    return ClientResources.builder()
        .reconnectDelay(Delay.exponential(Duration.ZERO, RECONNECT_EVERY, 2, TimeUnit.MILLISECONDS))
        .nettyCustomizer(new NettyCustomizer() {
          @Override
          public void afterChannelInitialized(Channel channel) {
            channel.pipeline().addFirst(new ResponseStallHandler(options.timeout()));
          }
        }).build();
  }

  private static Link single(RedisURI uri, RedisOptions options) {
    RedisClient client = RedisClient.create(resources(options), uri);
    try {
      client.setOptions(common(ClientOptions.builder(), options).build());
      return new Link(client, client.connect(ByteArrayCodec.INSTANCE), options);
    } catch (RuntimeException e) {
      shutDown(client, options.timeout());
      throw e;
    }
  }

  private static Link cluster(List<RedisURI> uris, RedisOptions options) {
    RedisClusterClient client = RedisClusterClient.create(resources(options), uris);
    try {
      ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
          .enablePeriodicRefresh(TOPOLOGY_EVERY)
          .adaptiveRefreshTriggersTimeout(TOPOLOGY_AT_MOST_EVERY).build();
      ClusterClientOptions.Builder builder = ClusterClientOptions.builder();
      common(builder, options);
      client.setOptions(builder.topologyRefreshOptions(refresh).build());
      return new Link(client, client.connect(ByteArrayCodec.INSTANCE), options);
    } catch (RuntimeException e) {
      shutDown(client, options.timeout());
      throw e;
    }
  }

  private static ClientOptions.Builder common(ClientOptions.Builder builder, RedisOptions options) {
    // The replay filter drops each command that was sent before a reconnect, so no command is sent twice.
    return builder.autoReconnect(true).replayFilter(command -> true)
        .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS).protocolVersion(ProtocolVersion.RESP2)
        .requestQueueSize(MAX_UNDER_WAY).timeoutOptions(TimeoutOptions.enabled(options.timeout()))
        .socketOptions(SocketOptions.builder().connectTimeout(options.timeout()).keepAlive(true).tcpNoDelay(true)
            .build());
  }

  /** Sets the scripts, in the form that this server accepts. Must be called before the first script runs. */
  void use(Map<Script, Script.Source> sources) {
    scripts = sources;
  }

  boolean waitsForReplicas() {
    return waitReplicas > 0;
  }

  /**
   * Completes when the configured number of replicas have the earlier writes to the server of a key. Completes at once
   * if this number is 0. Fails if too few replicas have the writes within half of the timeout of a call.
   */
  CompletableFuture<@Nullable Void> awaitReplicas(byte[] key) {
    return awaitReplicas(List.of(key)).getFirst();
  }

  /** Waits as {@link #awaitReplicas(byte[])} does, for each key. Each server is asked once. */
  List<CompletableFuture<@Nullable Void>> awaitReplicas(List<byte[]> keys) {
    if (waitReplicas == 0 || keys.isEmpty()) {
      return Collections.nCopies(keys.size(), CompletableFuture.completedFuture(null));
    }
    if (!(connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
      return Collections.nCopies(keys.size(), awaitReplicas(connection));
    }
    Map<RedisURI, CompletableFuture<@Nullable Void>> byServer = new HashMap<>();
    return keys.stream().map(key -> awaitReplicas(cluster, key, byServer)).toList();
  }

  private CompletableFuture<@Nullable Void> awaitReplicas(StatefulRedisClusterConnection<byte[], byte[]> cluster,
      byte[] key, Map<RedisURI, CompletableFuture<@Nullable Void>> byServer) {
    try {
      return byServer.computeIfAbsent(server(cluster, key),
          server -> connection(cluster, server).thenCompose(this::awaitReplicas));
    } catch (StoreAwayException e) {
      return CompletableFuture.failedFuture(new StoreException(
          "it is unknown which replicas have the write; it took effect on the primary: " + e.getMessage(), e));
    }
  }

  private CompletableFuture<@Nullable Void> awaitReplicas(StatefulConnection<byte[], byte[]> server) {
    CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(waitReplicas)
        .add(timeout.toMillis() / 2);
    AsyncCommand<byte[], byte[], Long> command = new AsyncCommand<>(
        new Command<>(CommandType.WAIT, new IntegerOutput<>(ByteArrayCodec.INSTANCE), args));
    var sent = server.dispatch(command);
    assert sent != null;
    return command.<@Nullable Void>handle((have, failure) -> {
      if (failure != null) {
        throw failure(failure);
      }
      if (have < waitReplicas) {
        throw new StoreException("too few replicas have the write; it took effect on the primary, and is lost if a "
            + "replica without it takes over now: replicas=" + have + ", wanted=" + waitReplicas, null);
      }
      return null;
    }).toCompletableFuture();
  }

  private static RedisURI server(StatefulRedisClusterConnection<byte[], byte[]> cluster, byte[] key) {
    RedisClusterNode node = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
    if (node == null) {
      throw new StoreAwayException("no server of the Redis cluster has the slot of a key; see CLUSTER SLOTS", null);
    }
    return node.getUri();
  }

  private static CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connection(
      StatefulRedisClusterConnection<byte[], byte[]> cluster, RedisURI server) {
    return cluster.getConnectionAsync(server.getHost(), server.getPort());
  }

  /**
   * Sends calls. In a cluster, the calls to a server are sent only once a connection to the server is open. If they
   * were sent earlier, Lettuce would block the sending thread until the connection is open. That thread may be one of
   * the few threads that open the connections, so the wait might never end.
   */
  private void dispatch(Pipeline pipeline) {
    if (!(connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
      dispatch(pipeline.commands);
      return;
    }
    Map<RedisURI, List<AsyncCommand<byte[], byte[], List<Object>>>> byServer = new HashMap<>();
    for (int i = 0; i < pipeline.commands.size(); i++) {
      byte[] key = pipeline.keys.get(i);
      AsyncCommand<byte[], byte[], List<Object>> command = pipeline.commands.get(i);
      if (key == null) {
        dispatch(List.of(command));
        continue;
      }
      try {
        byServer.computeIfAbsent(server(cluster, key), none -> new ArrayList<>()).add(command);
      } catch (StoreAwayException e) {
        command.completeExceptionally(e);
      }
    }
    byServer.forEach((server, commands) -> {
      var sent = connection(cluster, server).whenComplete((connected, failure) -> {
        if (failure == null) {
          dispatch(commands);
        } else {
          commands.forEach(command -> command.completeExceptionally(failure));
        }
      });
      assert sent != null;
    });
  }

  private void dispatch(List<AsyncCommand<byte[], byte[], List<Object>>> commands) {
    try {
      var sent = connection.dispatch(commands);
      assert sent.size() == commands.size();
    } catch (RuntimeException e) {
      commands.forEach(command -> command.completeExceptionally(e));
    }
  }

  boolean isCluster() {
    return client instanceof RedisClusterClient;
  }

  /** A group of calls that {@link #send} sends together. Not thread-safe. */
  final class Pipeline {
    private final List<AsyncCommand<byte[], byte[], List<Object>>> commands = new ArrayList<>();
    /** Keys that route the commands, one per command; null for a command without a key, which any server may run. */
    private final List<byte @Nullable []> keys = new ArrayList<>();

    /** Adds a call of a script on a part. The answer is a list of byte arrays, numbers, nulls and lists. */
    CompletableFuture<List<Object>> step(Script script, byte[] part, List<byte[]> arguments) {
      Script.Source source = source(script);
      List<byte[]> keys = Layout.declared(part);
      CompletableFuture<List<Object>> answer = new CompletableFuture<>();
      add(Call.ofScript(CommandType.EVALSHA, Layout.bytes(source.sha()), keys, arguments),
          (result, failure) -> {
            if (failure instanceof RedisNoScriptException) {
              // The server has restarted, or its scripts were flushed. EVAL with the text makes the script known again.
              Pipeline again = new Pipeline();
              again.add(Call.ofScript(CommandType.EVAL, source.text(), keys, arguments),
                  (second, secondFailure) -> complete(answer, second, secondFailure));
              again.send();
            } else {
              complete(answer, result, failure);
            }
          });
      return answer;
    }

    /** Adds a plain command. Its first argument is its only key. */
    CompletableFuture<List<Object>> command(CommandType type, byte[] key, byte[]... arguments) {
      CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(key);
      for (byte[] argument : arguments) {
        args.add(argument);
      }
      return add(new Call(type, key, args));
    }

    /** Adds a plain command without a key. */
    CompletableFuture<List<Object>> serverCommand(CommandType type, String... words) {
      CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
      for (String word : words) {
        args.add(word);
      }
      return add(new Call(type, null, args));
    }

    private CompletableFuture<List<Object>> add(Call call) {
      CompletableFuture<List<Object>> answer = new CompletableFuture<>();
      add(call, (result, failure) -> complete(answer, result, failure));
      return answer;
    }

    private void add(Call call, Answer answer) {
      AsyncCommand<byte[], byte[], List<Object>> command = call.command();
      var ended = command.whenComplete((result, failure) -> {
        underWay.decrementAndGet();
        if (failure instanceof RedisReadOnlyException) {
          leaveReplica();
        }
        if (failure == null || !call.hadNoEffect(failure) || !sendLater(call, answer)) {
          answer.done(result, failure);
        }
      });
      assert ended != null;
      commands.add(command);
      keys.add(call.key());
    }

    void send() {
      StoreException refused = refusal();
      if (refused != null) {
        commands.forEach(command -> {
          underWay.incrementAndGet();
          command.completeExceptionally(refused);
        });
        return;
      }
      underWay.addAndGet(commands.size());
      try {
        dispatch(this);
      } catch (RuntimeException e) {
        commands.forEach(command -> command.completeExceptionally(e));
      }
    }
  }

  /**
   * Ends the connection to a primary that became a replica, so that the client connects to the new primary. Does
   * nothing in a cluster, because its client follows the topology. Also does nothing if the previous disconnection is
   * too recent.
   */
  private void leaveReplica() {
    long last = quitNanos.get();
    long now = System.nanoTime();
    if (!isCluster() && now - last > QUIT_AT_MOST_EVERY_NANOS && quitNanos.compareAndSet(last, now)) {
      CompletableFuture<List<Object>> left = serverCommand(CommandType.QUIT);
      assert left != null;
    }
  }

  private interface Answer {
    void done(@Nullable List<Object> result, @Nullable Throwable failure);
  }

  /**
   * After a pause, repeats a call that had no effect. Returns false, and does not repeat the call, if the call is
   * already older than the timeout.
   */
  private boolean sendLater(Call call, Answer answer) {
    if (call.isOlderThan(timeout)) {
      return false;
    }
    long pauseMillis = call.nextPauseMillis();
    CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS).execute(() -> {
      Pipeline again = new Pipeline();
      again.add(call, answer);
      again.send();
    });
    return true;
  }

  private static void complete(CompletableFuture<List<Object>> answer, @Nullable List<Object> result,
      @Nullable Throwable failure) {
    if (failure != null) {
      answer.completeExceptionally(failure(failure));
    } else {
      answer.complete(result == null ? List.of() : result);
    }
  }

  Pipeline pipeline() {
    return new Pipeline();
  }

  /** Sends one call of a script on a part. */
  CompletableFuture<List<Object>> step(Script script, byte[] part, List<byte[]> arguments) {
    Pipeline pipeline = new Pipeline();
    CompletableFuture<List<Object>> answer = pipeline.step(script, part, arguments);
    pipeline.send();
    return answer;
  }

  /** Sends one call of a script with the given keys. */
  CompletableFuture<List<Object>> step(Script script, List<byte[]> keys, List<byte[]> arguments) {
    Pipeline pipeline = new Pipeline();
    // These calls are rare, so they send the text of the script. A call with the hash may have to be repeated.
    CompletableFuture<List<Object>> answer = pipeline
        .add(Call.ofScript(CommandType.EVAL, source(script).text(), keys, arguments));
    pipeline.send();
    return answer;
  }

  /** Sends one plain command. */
  CompletableFuture<List<Object>> command(CommandType type, byte[] key, byte[]... arguments) {
    Pipeline pipeline = new Pipeline();
    CompletableFuture<List<Object>> answer = pipeline.command(type, key, arguments);
    pipeline.send();
    return answer;
  }

  CompletableFuture<List<Object>> serverCommand(CommandType type, String... words) {
    Pipeline pipeline = new Pipeline();
    CompletableFuture<List<Object>> answer = pipeline.serverCommand(type, words);
    pipeline.send();
    return answer;
  }

  private Script.Source source(Script script) {
    return Objects.requireNonNull(scripts.get(script));
  }

  /** Converts the failure of a call to the exception for its caller. */
  static RuntimeException failure(Throwable thrown) {
    Throwable failure = thrown;
    while (failure instanceof CompletionException && failure.getCause() != null) {
      failure = failure.getCause();
    }
    if (failure instanceof StoreException || failure instanceof MovedException
        || failure instanceof IllegalArgumentException) {
      return (RuntimeException) failure;
    }
    String reason = reason(failure);
    if (failure instanceof RedisCommandExecutionException && reason.contains(MOVED)) {
      String digits = reason.substring(reason.indexOf(MOVED) + MOVED.length()).split("\\D", 2)[0];
      return new MovedException(Integer.parseInt(digits));
    }
    if (Call.isSlotMoving(failure)) {
      return new StoreAwayException("Redis Cluster is moving a slot to another server, and refuses calls for its tasks "
          + "until the move ends; see CLUSTER NODES for slots in the states importing and migrating: " + reason,
          failure);
    }
    if (failure instanceof RedisCommandExecutionException && reason.contains("OOM ")) {
      return new StoreFullException("Redis has no memory left: " + reason
          + "; raise maxmemory, or shorten the retention of finished tasks");
    }
    return new StoreException("a call to Redis failed, or its outcome is unknown: " + reason, failure);
  }

  static String reason(Throwable failure) {
    StringBuilder text = new StringBuilder(
        failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage());
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      String more = cause.getMessage();
      if (more != null && text.indexOf(more) < 0) {
        text.append("; ").append(more);
      }
    }
    return text.toString();
  }

  /** Returns whether calls are refused. */
  boolean isClosed() {
    return closed;
  }

  /**
   * Returns the reason why no call can be sent, or null. In a cluster, some servers may be available while others are
   * not, so only a call shows whether its own server is available.
   */
  @Nullable
  StoreException refusal() {
    if (closed) {
      return new StoreException("the store is closed", null);
    }
    return isCluster() || connection.isOpen()
        ? null
        : new StoreAwayException("Redis is unavailable; reconnecting until it is back", null);
  }

  /** Refuses new calls, waits for the calls under way, at most for the timeout, and then disconnects. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    long end = System.nanoTime() + timeout.toNanos();
    while (underWay.get() > 0 && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(CLOSE_POLL_NANOS);
    }
    awaitClosed(connection.closeAsync(), timeout);
    shutDown(client, timeout);
  }

  /**
   * Shuts a client down, and waits at most for the timeout. The wait must be bounded, because a cluster client never
   * completes a shutdown that begins during the discovery of its servers.
   */
  private static void shutDown(AbstractRedisClient client, Duration timeout) {
    awaitClosed(client.shutdownAsync(0, timeout.toMillis(), TimeUnit.MILLISECONDS), timeout);
    // The threads of the client end on their own, within the same time.
    Future<Boolean> ended = client.getResources().shutdown(0, timeout.toMillis(), TimeUnit.MILLISECONDS);
    assert ended != null;
  }

  /** Waits until a connection or client is closed, at most for the timeout. Failures are only logged. */
  private static void awaitClosed(CompletableFuture<Void> closing, Duration timeout) {
    try {
      Object done = closing.completeOnTimeout(null, timeout.toMillis(), TimeUnit.MILLISECONDS).join();
      assert done == null;
    } catch (CompletionException e) {
      LOG.log(Level.DEBUG, "a client of Redis did not close cleanly", e);
    }
  }
}
