package io.foliot.cli;

import com.sun.management.UnixOperatingSystemMXBean;
import io.foliot.core.SystemClock;
import io.foliot.core.store.StoreException;
import io.foliot.server.config.FoliotConfig;
import io.foliot.store.jdbc.JdbcSource;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Checks of this machine, run before a server is started or beside a running one. */
final class Checks {
  private static final int JAVA_OLDEST = 21;
  private static final int JAVA_BEST = 25;

  private static final int SYNC_BYTES = 4 << 10;
  private static final int SYNCS = 200;
  private static final long SYNC_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);
  /**
   * If the median time of a sync is below this value, the syncs probably do not reach the disk. Even a disk with a
   * battery-backed cache is a little slower.
   */
  private static final double SYNC_TOO_GOOD_MILLIS = 0.01;
  private static final double SYNC_SLOW_MILLIS = 10;
  private static final Set<String> MEMORY_FILE_SYSTEMS = Set.of("tmpfs", "ramfs");

  /** The check warns if the free space is less than this multiple of the store's reserve. */
  private static final int MANY_RESERVES = 4;

  private static final long DRIFT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final double DRIFT_WARN_MILLIS = 5;
  private static final double DRIFT_FAIL_MILLIS = 100;
  /**
   * Largest accepted difference between the clocks. The Date header has only whole seconds, and arrives a moment late.
   */
  private static final long DATE_TOLERANCE_SECONDS = 2;

  /** The check warns if the limit of open files is below the first of these values, and fails below the second. */
  private static final long FEW_FILES = 4_096;
  private static final long TOO_FEW_FILES = 512;

  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

  private static final int REDIS_PORT = 6_379;
  private static final int CONNECT_MILLIS = 5_000;

  private final FoliotConfig config;

  /** A check of one thing. */
  @FunctionalInterface
  interface Check {
    Finding find();
  }

  Checks(FoliotConfig config) {
    this.config = config;
  }

  List<Check> all() {
    List<Check> all = new ArrayList<>(List.of(this::java, this::files, this::port, this::clock, this::drift));
    all.addAll(config.store().isRemote()
        ? List.of(this::storeServer)
        : List.of(this::data, this::space, this::sync));
    return all;
  }

  /**
   * Checks that the server of the store can be reached and, if the server is a database, that it accepts the configured
   * credentials. Changes nothing in the store.
   */
  private Finding storeServer() {
    FoliotConfig.Store store = config.store();
    long begun = System.nanoTime();
    try {
      String seen = store.isJdbc() ? database(store) : redis(store);
      return Finding.ok("store", store.name() + ": " + seen + ", after " + millis((System.nanoTime() - begun) / 1e6));
    } catch (SQLException e) {
      return Finding.fail("store", store.name() + ": " + e.getMessage(),
          JdbcSource.advice(e) + " (store.kind, store.user, store.password)");
    } catch (IOException | IllegalArgumentException e) {
      return Finding.fail("store", store.name() + ": " + e.getMessage(),
          "check that its server runs and can be reached, and that store.user and store.password are right");
    }
  }

  private static String database(FoliotConfig.Store store) throws SQLException {
    FoliotConfig.Store.Login login = store.login();
    JdbcSource.Login source = new JdbcSource.Login(store.kind(), login.user().isEmpty() ? null : login.user(),
        login.user().isEmpty() ? null : login.password());
    try (Connection connection = source.connect()) {
      DatabaseMetaData about = connection.getMetaData();
      return about.getDatabaseProductName() + " " + about.getDatabaseProductVersion() + " accepts user "
          + about.getUserName();
    } catch (SQLException e) {
      // A driver's message about a URL may contain the password.
      throw new SQLException(source.redacted(e.getMessage() + ""), e.getSQLState(), e.getErrorCode(), e);
    } catch (IllegalArgumentException e) {
      throw new SQLException(source.redacted(e.getMessage() + ""), e);
    }
  }

  private static String redis(FoliotConfig.Store store) throws IOException {
    URI address;
    try {
      address = new URI(store.kind().split(",", 2)[0]);
    } catch (URISyntaxException e) {
      // The cause is omitted: its message repeats the address with its password.
      throw new IOException("the address is not a URI: " + e.getReason());
    }
    int port = address.getPort() < 0 ? REDIS_PORT : address.getPort();
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(String.valueOf(address.getHost()), port), CONNECT_MILLIS);
      return "a server accepts connections";
    }
  }

  private Finding java() {
    int version = Runtime.version().feature();
    String seen = Runtime.version() + ", " + System.getProperty("java.vendor", "") + ", "
        + Words.bytes(Runtime.getRuntime().maxMemory()) + " of heap for this command";
    if (version < JAVA_OLDEST) {
      return Finding.fail("java", seen, "install a JDK 21 or newer; 25 is best");
    }
    return version < JAVA_BEST
        ? Finding.warn("java", seen, "it works; JDK 25 needs less memory per task and starts faster")
        : Finding.ok("java", seen);
  }

  private Finding files() {
    if (!(ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system)) {
      return Finding.ok("open files", "this system has no limit that Java knows");
    }
    long limit = system.getMaxFileDescriptorCount();
    String seen = "at most " + limit;
    String advice = "connections and the store need more: ulimit -n 65536, or LimitNOFILE= in a systemd unit";
    if (limit < TOO_FEW_FILES) {
      return Finding.fail("open files", seen, advice);
    }
    return limit < FEW_FILES ? Finding.warn("open files", seen, advice) : Finding.ok("open files", seen);
  }

  private String url() {
    String host = config.listen().host();
    String reachable = switch (host) {
      case "0.0.0.0" -> "127.0.0.1";
      case "::" -> "[::1]";
      default -> host.contains(":") ? "[" + host + "]" : host;
    };
    return "http://" + reachable + ":" + config.listen().port();
  }

  private Optional<HttpResponse<String>> get(String path) {
    try (ServerConnection remote = ServerConnection.at(url())) {
      return Optional.of(remote.send(HttpRequest.newBuilder(URI.create(url() + path)).GET(), ANSWER_TIMEOUT));
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private boolean answersAsFoliot() {
    return get("/health/live").filter(Checks::isUp).isPresent()
        && get("/openapi.json").map(HttpResponse::body).filter(body -> body.contains("Foliot")).isPresent();
  }

  /** Returns whether an answer is that of a healthy Foliot server. */
  static boolean isUp(HttpResponse<String> answer) {
    return answer.statusCode() == 200 && JsonView.parse(answer.body()).at("status").text("").equals("UP");
  }

  private Finding port() {
    int port = config.listen().port();
    String what = "port " + port;
    try (ServerSocket socket = new ServerSocket()) {
      // The server sets this option too. Without it, a port with connections in TIME_WAIT would appear to be in use.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByName(config.listen().host()), port));
      return Finding.ok(what, "free");
    } catch (IOException e) {
      if (answersAsFoliot()) {
        return Finding.ok(what, "a Foliot server answers at " + url());
      }
      return Finding.fail(what, "cannot be bound: " + e.getMessage(),
          "another program uses it, or this user may not bind it: stop that program (ss -ltnp), or choose another --port");
    }
  }

  private Finding clock() {
    Optional<HttpResponse<String>> answer = get("/health/live");
    Instant now = Instant.now();
    Optional<String> date = answer.flatMap(it -> it.headers().firstValue("Date"));
    if (date.isEmpty()) {
      return Finding.ok("clock", now.truncatedTo(ChronoUnit.SECONDS)
          + (answer.isEmpty()
              ? "; not compared, because no server responds"
              : "; not compared, because the server sends no Date"));
    }
    try {
      long seconds = Duration.between(Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date.get())), now)
          .toSeconds();
      String seen = "this machine's clock is " + seconds + " s ahead of the server's";
      return Math.abs(seconds) > DATE_TOLERANCE_SECONDS
          ? Finding.warn("clock", seen, "let both machines follow one time source (chrony, systemd-timesyncd, ntpd)")
          : Finding.ok("clock", "agrees with the server's within " + DATE_TOLERANCE_SECONDS + " s");
    } catch (DateTimeException e) {
      return Finding.ok("clock", "the server's date cannot be read: " + date.get());
    }
  }

  /** Checks that the wall clock and the monotonic clock agree on the length of a second. */
  private Finding drift() {
    long wallBegun = wallNanos();
    long begun = System.nanoTime();
    long end = begun + DRIFT_NANOS;
    for (long left = DRIFT_NANOS; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    double drift = Math.abs((wallNanos() - wallBegun) - (System.nanoTime() - begun)) / 1e6;
    String seen = "wall and monotonic clock differ by " + millis(drift) + " after a second";
    String advice = "something sets the clock in steps, or the virtual machine pauses; let chrony or ntpd slew it instead";
    if (drift > DRIFT_FAIL_MILLIS) {
      return Finding.fail("clock rate", seen, advice);
    }
    return drift > DRIFT_WARN_MILLIS ? Finding.warn("clock rate", seen, advice) : Finding.ok("clock rate", seen);
  }

  private static long wallNanos() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
  }

  private Finding data() {
    Path folder = config.store().data();
    Path store = config.store().folder();
    if (!Files.exists(store)) {
      Path parent = Folders.nearestExisting(folder);
      return Files.isDirectory(parent) && Files.isWritable(parent)
          ? Finding.ok("data", folder + " does not exist yet; the server creates it")
          : Finding.fail("data", parent + " is not writable",
              "give this user the right to write there, or choose another --data");
    }
    if (!Files.isReadable(store) || !Files.isWritable(store)) {
      return Finding.fail("data", store + " cannot be read and written by this user",
          "give the folder to the user that runs Foliot: chown -R, or choose another --data");
    }
    if (!RocksDbStore.isFree(store)) {
      return Finding.ok("data", folder + " is in use by a running server");
    }
    long begun = System.nanoTime();
    try (RocksDbStore opened = RocksDbStore.open(store, RocksDbOptions.DEFAULT, new SystemClock())) {
      return Finding.ok("data", folder + " was opened and read in " + Words.seconds((System.nanoTime() - begun) / 1e9)
          + ", " + opened.slotCount() + " slots, " + Words.bytes(Folders.bytes(folder)));
    } catch (StoreException e) {
      return Finding.fail("data", String.valueOf(e.getMessage()),
          "if the store is damaged, restore a backup: ./foliot restore --from BACKUP --data NEW");
    }
  }

  private Finding space() {
    Path folder = Folders.nearestExisting(config.store().data());
    long reserve = RocksDbOptions.DEFAULT.reserveBytes();
    try {
      long free = Files.getFileStore(folder).getUsableSpace();
      String seen = Words.bytes(free) + " free; below " + Words.bytes(reserve) + " new tasks are refused (507)";
      String advice = "make room on the file system of " + folder + ", or move the data folder";
      if (free < reserve) {
        return Finding.fail("space", seen, advice);
      }
      return free < MANY_RESERVES * reserve
          ? Finding.warn("space", seen, advice)
          : Finding.ok("space", seen);
    } catch (IOException e) {
      return Finding.fail("space", "cannot be read: " + e.getMessage(), "choose another --data");
    }
  }

  /** Measures how long the disk takes to make a write durable. */
  private Finding sync() {
    Path folder = Folders.nearestExisting(config.store().data());
    Path file = null;
    try {
      file = Files.createTempFile(folder, ".foliot-doctor", ".tmp");
      Histogram nanos = measure(file);
      double p50Millis = nanos.getValueAtPercentile(50) / 1e6;
      double p99Millis = nanos.getValueAtPercentile(99) / 1e6;
      FileStore store = Files.getFileStore(folder);
      String seen = "p50 " + millis(p50Millis) + ", p99 " + millis(p99Millis) + " for a synced write on "
          + store.type();
      if (MEMORY_FILE_SYSTEMS.contains(store.type())) {
        return Finding.warn("disk sync", seen,
            "this file system is in memory: a power loss loses all tasks; choose another --data");
      }
      if (p50Millis < SYNC_TOO_GOOD_MILLIS) {
        return Finding.warn("disk sync", seen, "this is too fast for a disk: perhaps the system or the virtual"
            + " machine does not wait for the disk, so a power loss may lose acknowledged tasks");
      }
      return p50Millis > SYNC_SLOW_MILLIS
          ? Finding.warn("disk sync", seen,
              "each submit waits for a synced write, which concurrent submits share; an SSD is far faster")
          : Finding.ok("disk sync", seen);
    } catch (IOException e) {
      return Finding.fail("disk sync", "a file in " + folder + " cannot be written: " + e.getMessage(),
          "make room there, give this user the right to write there, or choose another --data");
    } finally {
      deleteQuietly(file);
    }
  }

  private static Histogram measure(Path file) throws IOException {
    Histogram nanos = new Histogram(3);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer block = ByteBuffer.allocateDirect(SYNC_BYTES);
      long begun = System.nanoTime();
      while (nanos.getTotalCount() < SYNCS && System.nanoTime() - begun < SYNC_PATIENCE_NANOS) {
        long syncBegun = System.nanoTime();
        // Appends to a growing file, as a write-ahead log does.
        channel.write(block.clear());
        channel.force(false);
        nanos.recordValue(System.nanoTime() - syncBegun);
      }
    }
    return nanos;
  }

  private static void deleteQuietly(@Nullable Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // A small file remains; its name says which command wrote it.
    }
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%.2f ms", millis);
  }
}
