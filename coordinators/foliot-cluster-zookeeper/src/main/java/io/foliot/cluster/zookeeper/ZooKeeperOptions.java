package io.foliot.cluster.zookeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.common.PathUtils;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of ZooKeeper, and the settings of the connections.
 *
 * @param servers {@code host:port,host:port}; the default port is 2181
 * @param root the path above all znodes of Foliot; it is created if it is missing
 * @param sessionTimeout the time after which a silent node counts as dead. ZooKeeper limits this time, by default to
 *     between two and twenty times its {@code tickTime}
 * @param connectionTimeout how long one try to connect may take
 * @param login the identity of this client
 * @param tls the settings of TLS; null for a connection without it
 */
public record ZooKeeperOptions(String servers, String root, Duration sessionTimeout, Duration connectionTimeout,
    Login login, @Nullable Tls tls) {
  /** Prefix of an address. */
  public static final String SCHEME = "zookeeper://";
  /** Root path of Foliot's znodes unless the address has a path. */
  public static final String ROOT = "/foliot";
  /** The default time after which a silent node counts as dead. */
  public static final Duration SESSION_TIMEOUT = Duration.ofSeconds(3);
  /** The default limit of one try to connect. */
  public static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(5);

  private static final Duration TIMEOUT_MIN = Duration.ofMillis(100);
  private static final Duration TIMEOUT_MAX = Duration.ofMinutes(10);

  public ZooKeeperOptions {
    if (servers.isEmpty() || servers.contains("/") || !readable(servers)) {
      throw new IllegalArgumentException("servers of ZooKeeper are host:port,host:port: servers=" + servers);
    }
    PathUtils.validatePath(root);
    if (root.equals("/")) {
      throw new IllegalArgumentException("the root is a path below \"/\", such as " + ROOT + ": root=" + root);
    }
    ensureTimeout("sessionTimeout", sessionTimeout);
    ensureTimeout("connectionTimeout", connectionTimeout);
  }

  private static boolean readable(String servers) {
    try {
      return new ConnectStringParser(servers).getServerAddresses().stream()
          .noneMatch(address -> address.getHostString().isBlank());
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static void ensureTimeout(String name, Duration timeout) {
    if (timeout.compareTo(TIMEOUT_MIN) < 0 || timeout.compareTo(TIMEOUT_MAX) > 0) {
      throw new IllegalArgumentException(
          "a timeout is from " + TIMEOUT_MIN + " to " + TIMEOUT_MAX + ": " + name + "=" + timeout);
    }
  }

  /**
   * The identity of a ZooKeeper client. Only this identity can read or change the znodes that the client creates. With
   * {@link Anonymous}, every client can.
   */
  public sealed interface Login {
    /** No identity: the znodes are open to every client of ZooKeeper. */
    record Anonymous() implements Login {}

    /** The {@code digest} scheme. The password is sent in clear text, so the connection should use TLS. */
    record Digest(String user, String password) implements Login {
      public Digest {
        if (user.isEmpty() || user.contains(":") || password.isEmpty()) {
          throw new IllegalArgumentException("a digest has a user without a colon, and a password: user=" + user);
        }
      }

      @Override
      public String toString() {
        return "Digest[user=" + user + "]";
      }
    }

    /**
     * SASL (Kerberos, DIGEST-MD5), as configured in a section of the JVM's JAAS configuration.
     *
     * @param section the name of the section, in the file that {@code -Djava.security.auth.login.config} names
     */
    record Sasl(String section) implements Login {}
  }

  /**
   * TLS, with keys and certificates in files ({@code .p12}, {@code .jks} or {@code .pem}).
   *
   * @param trustStore the file of the trusted certificates; the host name in a server's certificate is checked, too
   * @param trustPassword the password of the trust store
   * @param keyStore the file of this client's key and certificate, or null for none
   * @param keyPassword the password of the key store; not used without a key store
   */
  public record Tls(Path trustStore, String trustPassword, @Nullable Path keyStore, String keyPassword) {
    private static final String PEM = ".pem";

    /**
     * Ensures that the files can be opened. ZooKeeper's client opens them each time it tries to connect. If that fails,
     * it reports only that it cannot connect.
     *
     * @throws IllegalArgumentException if a file cannot be opened
     */
    void ensureOpen() {
      ensureOpen(trustStore, trustPassword);
      if (keyStore != null) {
        ensureOpen(keyStore, keyPassword);
      }
    }

    private static void ensureOpen(Path file, String password) {
      try {
        if (file.toString().endsWith(PEM)) {
          Files.readAllBytes(file);
        } else {
          KeyStore.getInstance(file.toFile(), password.toCharArray());
        }
      } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
        throw new IllegalArgumentException("a key store cannot be opened: file=" + file + ", error=" + e.getMessage(),
            e);
      }
    }

    @Override
    public String toString() {
      return "Tls[trustStore=" + trustStore + ", keyStore=" + keyStore + "]";
    }
  }

  /**
   * Returns the options of an address: {@code zookeeper://host:port,host:port/path}, where the path is optional. Each
   * other setting has its default.
   *
   * @throws IllegalArgumentException if the address has another form
   */
  public static ZooKeeperOptions at(String address) {
    return builder(address).build();
  }

  /**
   * Returns a builder of options for an address: {@code zookeeper://host:port,host:port/path}, where the path is
   * optional.
   *
   * @throws IllegalArgumentException if the address begins with another scheme
   */
  public static Builder builder(String address) {
    if (!address.startsWith(SCHEME)) {
      throw new IllegalArgumentException("an address of ZooKeeper begins with " + SCHEME + ": address=" + address);
    }
    String rest = address.substring(SCHEME.length());
    int slash = rest.indexOf('/');
    String servers = slash < 0 ? rest : rest.substring(0, slash);
    String root = slash < 0 || slash == rest.length() - 1 ? ROOT : rest.substring(slash);
    return new Builder(servers, root);
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder(servers, root).sessionTimeout(sessionTimeout).connectionTimeout(connectionTimeout).login(login)
        .tls(tls);
  }

  /** Builds {@link ZooKeeperOptions}. Not safe for use by several threads. */
  public static final class Builder {
    private final String servers;
    private final String root;
    private Duration sessionTimeout = SESSION_TIMEOUT;
    private Duration connectionTimeout = CONNECTION_TIMEOUT;
    private Login login = new Login.Anonymous();
    private @Nullable Tls tls;

    private Builder(String servers, String root) {
      this.servers = servers;
      this.root = root;
    }

    /**
     * Sets the time after which a silent node counts as dead, from 100 ms to 10 min; by default 3 s. ZooKeeper limits
     * this time, by default to between two and twenty times its {@code tickTime}.
     */
    public Builder sessionTimeout(Duration value) {
      sessionTimeout = value;
      return this;
    }

    /** Sets how long one try to connect may take, from 100 ms to 10 min; by default 5 s. */
    public Builder connectionTimeout(Duration value) {
      connectionTimeout = value;
      return this;
    }

    /** Sets the identity of this client; by default it has none. */
    public Builder login(Login value) {
      login = value;
      return this;
    }

    /** Sets the settings of TLS; null, the default, for a connection without TLS. */
    public Builder tls(@Nullable Tls value) {
      tls = value;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if the address cannot be parsed, or a setting is out of range
     */
    public ZooKeeperOptions build() {
      return new ZooKeeperOptions(servers, root, sessionTimeout, connectionTimeout, login, tls);
    }
  }
}
