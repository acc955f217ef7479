package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Redis with an append-only file, which Redis syncs every second by default. Redis usually writes to the file before it
 * replies, and the kernel keeps written data after a kill. While an earlier sync is in progress, Redis may delay the
 * write by up to two seconds, and a kill may then lose confirmed data. With {@code appendfsync=always}, Redis syncs
 * before it replies, so a kill loses no confirmed data.
 */
public final class RedisServer implements Server {
  private static final Duration LINK_BOUND = Duration.ofSeconds(60);

  private final Path folder;
  private final Map<String, String> settings;
  private final int port;
  private final ServerProcess process;

  private RedisServer(Path folder, Map<String, String> settings, int port, List<String> leading) {
    this.folder = folder;
    this.settings = Map.copyOf(settings);
    this.port = port;
    process = new ServerProcess("Redis", command(settings, leading), folder);
  }

  /** Starts a server with the settings that the benchmarks of this project use. */
  public static RedisServer start() {
    return start(Map.of());
  }

  /**
   * Starts a server.
   *
   * @param settings settings by their names in {@code redis.conf}; they override those of this class
   */
  public static RedisServer start(Map<String, String> settings) {
    return started(settings, List.of());
  }

  /**
   * Starts a sentinel, which watches other servers. A sentinel needs a configuration file, because it stores its state
   * there.
   */
  static RedisServer startSentinel(List<String> configuration) {
    Path folder = Folder.create("redis-sentinel");
    int port = ServerProcess.freePort();
    try {
      Path file = folder.resolve("sentinel.conf");
      List<String> lines = new ArrayList<>(List.of("port " + port, "bind 127.0.0.1", "dir " + folder));
      lines.addAll(configuration);
      Files.write(file, lines);
      return started(new RedisServer(folder, Map.of(), port, List.of(file.toString(), "--sentinel")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RedisServer started(Map<String, String> settings, List<String> leading) {
    return started(new RedisServer(Folder.create("redis"), settings, ServerProcess.freePort(), leading));
  }

  private static RedisServer started(RedisServer server) {
    try {
      Files.createDirectories(server.data());
      server.process.start(server::ping);
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (IllegalStateException e) {
      server.close();
      throw e;
    }
  }

  private Path data() {
    return folder.resolve("data");
  }

  private List<String> command(Map<String, String> wanted, List<String> leading) {
    List<String> command = new ArrayList<>(List.of(Program.redis().toString()));
    command.addAll(leading);
    if (!leading.isEmpty()) {
      return command;
    }
    Map<String, String> all = new LinkedHashMap<>();
    all.put("port", Integer.toString(port));
    all.put("bind", "127.0.0.1");
    all.put("dir", data().toString());
    all.put("save", "");
    all.put("appendonly", "yes");
    all.put("appendfsync", "everysec");
    // By default, a primary waits five seconds for further replicas before it sends its data to the first one.
    all.put("repl-diskless-sync-delay", "0");
    all.putAll(wanted);
    all.forEach((name, value) -> {
      command.add("--" + name);
      // Redis expects each word of a setting as a separate argument.
      command.addAll(value.isEmpty() ? List.of("") : List.of(value.split(" ")));
    });
    return command;
  }

  /** Sends a command. Throws if the server is not ready, for example because it still reads its append-only file. */
  private void ping() throws IOException {
    try (RedisConnection connection = new RedisConnection(port)) {
      connection.command("PING");
    }
  }

  /**
   * Sends one command on a connection of its own.
   *
   * @return the reply, as {@link RedisConnection#command} returns it
   */
  public @Nullable Object command(String... words) {
    try (RedisConnection connection = new RedisConnection(port)) {
      return connection.command(words);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the URI for clients. */
  public String uri() {
    return "redis://127.0.0.1:" + port;
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
    process.start(this::ping);
  }

  /** Restarts the server without its data, as after the loss of its disk. Kills it first if it is running. */
  public void restartEmpty() {
    process.kill();
    Folder.remove(data());
    try {
      Files.createDirectory(data());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    process.start(this::ping);
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
   * Starts a replica of this server with the same settings, and waits until the replica follows this server. Redis
   * replicates asynchronously.
   */
  public RedisServer replica() {
    Map<String, String> following = new LinkedHashMap<>(settings);
    following.put("replicaof", "127.0.0.1 " + port);
    RedisServer replica = start(following);
    try {
      replica.awaitFollowing();
      // This server, too, must list the replica, because min-replicas-to-write counts only listed replicas.
      Await.until("the replica is known", LINK_BOUND,
          () -> info("replication").contains("port=" + replica.port + ",state=online"));
      return replica;
    } catch (IllegalStateException e) {
      replica.close();
      throw e;
    }
  }

  /** Waits until this replica has copied its primary and follows it. */
  void awaitFollowing() {
    Await.until("the replica follows", LINK_BOUND, () -> info("replication").contains("master_link_status:up"));
  }

  /**
   * Waits until this replica has everything that its primary has written so far. The command WAIT would not be enough:
   * it waits only for the writes of its own connection.
   */
  public void awaitCopied(RedisServer primary) {
    long written = primary.replicationOffset("master_repl_offset");
    Await.until("the replica has what its primary has written", LINK_BOUND,
        () -> replicationOffset("slave_repl_offset") >= written);
  }

  private long replicationOffset(String name) {
    String start = name + ":";
    return info("replication").lines().filter(line -> line.startsWith(start))
        .mapToLong(line -> Long.parseLong(line.substring(start.length()).strip())).findFirst().orElse(-1);
  }

  /** Returns a section of the server's INFO. */
  public String info(String section) {
    return Objects.toString(command("INFO", section));
  }

  /** Makes this replica a primary. */
  public void promote() {
    command("REPLICAOF", "NO", "ONE");
  }

  @Override
  public void close() {
    process.close();
  }
}
