package io.foliot.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the settings, and the messages about invalid settings. */
class ConfigTest {
  @TempDir
  private Path folder;

  private Path file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("foliot.yaml"), yaml);
  }

  private void refused(String yaml, String... words) throws IOException {
    Path file = file(yaml);
    assertThatThrownBy(() -> FoliotConfig.load(Map.of(), Map.of(), file)).isInstanceOfSatisfying(ConfigException.class,
        e -> assertThat(e.getMessage()).contains(words).doesNotContain("\n"));
  }

  @Test
  void theDefaultsApplyWithoutAnySetting() {
    FoliotConfig config = FoliotConfig.load(Map.of(), Map.of(), null);
    assertThat(config.listen().host()).isEqualTo("127.0.0.1");
    assertThat(config.listen().port()).isEqualTo(7400);
    assertThat(config.store().kind()).isEqualTo("rocksdb");
    assertThat(config.store().backups()).isEqualTo(Path.of("foliot-data", "backups").toAbsolutePath());
    assertThat(config.limits().bodyBytes()).isEqualTo(256 << 10);
    assertThat(config.delivery().allowNetworks()).isEmpty();
  }

  @Test
  void everyOptionHasOneKeyVariableAndFlagAndAValidDefault() {
    List<Option<?>> all = Option.all();
    assertThat(all.stream().map(Option::key)).doesNotHaveDuplicates();
    assertThat(all.stream().map(Option::flag)).doesNotHaveDuplicates();
    assertThat(all.stream().map(Option::variable)).doesNotHaveDuplicates().contains("FOLIOT_SERVER_PORT",
        "FOLIOT_DELIVERY_ALLOW_NETWORK");
    Map<String, String> defaults = all.stream().collect(Collectors.toMap(Option::flag, Option::standard));
    assertThat(FoliotConfig.load(defaults, Map.of(), null)).isEqualTo(FoliotConfig.load(Map.of(), Map.of(), null));
  }

  @Test
  void theNameOfARemoteStoreHasNoSecrets() {
    FoliotConfig.Store database = FoliotConfig.load(Map.of("store",
        "jdbc:postgresql://db.example:5432/foliot?user=u&password=hush", "store-user", "u", "store-password", "hush"),
        Map.of(), null).store();
    assertThat(database.isRemote()).isTrue();
    assertThat(database.name()).isEqualTo("jdbc:postgresql://db.example:5432/foliot");
    assertThat(database.login().toString()).doesNotContain("hush");
    FoliotConfig.Store redis = FoliotConfig.load(Map.of("store", "redis://:hush@cache.example:6379"), Map.of(), null)
        .store();
    assertThat(redis.isRedis()).isTrue();
    assertThat(redis.name()).isEqualTo("redis://cache.example:6379");
  }

  @Test
  void settingsOfZooKeeperAreShownWithoutSecrets() {
    FoliotConfig.Cluster cluster = FoliotConfig.load(
        Map.of("cluster", "zookeeper://a:2181,b:2181/prod", "cluster-user", "foliot", "cluster-trust-store", "t.p12",
            "cluster-trust-store-password", "hush", "cluster-key-store", "k.p12", "cluster-key-store-password", "hush"),
        Map.of("FOLIOT_CLUSTER_PASSWORD", "hush"), null).cluster();
    assertThat(cluster.isZooKeeper()).isTrue();
    assertThat(cluster.access().sessionTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(cluster.access().password()).isEqualTo("hush");
    assertThat(cluster.toString()).contains("foliot").doesNotContain("hush");
  }

  @Test
  void theCommandLineOverridesVariablesWhichOverrideTheFile() throws IOException {
    Path file = file("""
        server: {port: 1, host: 127.0.0.2, stop-timeout: PT3S}
        cluster.zone: a
        delivery:
          allow-network:
            - 10.0.0.0/8
            - fd00::/8
        limits.body: 1MiB
        """);
    FoliotConfig config = FoliotConfig.load(Map.of("port", "3"),
        Map.of("FOLIOT_SERVER_PORT", "2", "FOLIOT_SERVER_HOST", "127.0.0.3", "FOLIOT_URL", "http://x", "PATH", "/"),
        file);
    assertThat(config.listen().port()).isEqualTo(3);
    assertThat(config.listen().host()).isEqualTo("127.0.0.3");
    assertThat(config.listen().stopTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(config.cluster().zone()).isEqualTo("a");
    assertThat(config.delivery().allowNetworks()).containsExactly("10.0.0.0/8", "fd00::/8");
    assertThat(config.limits().bodyBytes()).isEqualTo(1 << 20);
  }

  @Test
  void anUnknownNameIsAnErrorThatNamesTheNearestOne() throws IOException {
    refused("server: {prot: 7400}", "server.prot", "line 1", "did you mean server.port?");
    refused("sever.port: 7400", "did you mean server.port?");
    refused("server:\n  port: 1\n  other: 3", "line 3");
    assertThatThrownBy(() -> FoliotConfig.load(Map.of("prot", "1"), Map.of(), null)).hasMessage(
        "there is no option --prot: did you mean port?");
    assertThatThrownBy(() -> FoliotConfig.load(Map.of(), Map.of("FOLIOT_SERVER_PROT", "1"), null)).hasMessage(
        "there is no variable FOLIOT_SERVER_PROT: did you mean FOLIOT_SERVER_PORT?");
  }

  @Test
  void theErrorAboutAWrongValueNamesTheExpectedForm() throws IOException {
    refused("server: {port: x}", "server.port in", "line 1", "a whole number from 0 to 65535 such as 7400", "\"x\"");
    refused("server: {port: 65536}", "65536");
    refused("server: {stop-timeout: 10}", "a duration from 0s to 1h such as 10s");
    refused("limits: {body: 2MiB}", "a size from 1KiB to 1MiB");
    refused("log: {format: xml}", "text, json");
    refused("security: {admin-key-hash: abc}", "sha256sum");
    refused("store: {kind: mongodb}", "jdbc:postgresql://HOST/DATABASE");
    refused("store: {connections: 1}", "a whole number from 2 to 200");
    refused("cluster: {coordinator: 'etcd://a:1'}", "none, store or zookeeper://HOST:PORT");
    refused("cluster: {user: foliot}", "cluster.user", "cluster.password");
    refused("cluster: {user: foliot, password: hush, sasl: Client}", "cluster.sasl");
    refused("cluster: {key-store: keys.p12}", "cluster.trust-store");
    refused("cluster: {session-timeout: 0s}", "a duration from 1s to 5m such as 3s");
    refused("limits: {waiting-bytes: 2MiB}", "limits.batch-body");
    assertThatThrownBy(() -> FoliotConfig.load(Map.of("port", "-1"), Map.of(), null)).hasMessageStartingWith("--port:");
    assertThatThrownBy(() -> FoliotConfig.load(Map.of(), Map.of("FOLIOT_SERVER_PORT", ""), null))
        .hasMessageStartingWith(
            "the variable FOLIOT_SERVER_PORT:");
  }

  @Test
  void aFileThatCannotBeReadIsAnError() throws IOException {
    refused("server: {port: 1", "not YAML", "line");
    refused("- a\n- b", "keys and values");
    refused("server.port: 1\nserver: {port: 2}", "occurs twice");
    refused("server: {port: [[1]]}", "list of texts");
    assertThatThrownBy(() -> FoliotConfig.load(Map.of(), Map.of(), folder.resolve("nope.yaml"))).isInstanceOf(
        ConfigException.class).hasMessageContaining("does not exist").hasMessageContaining("--config");
    assertThat(FoliotConfig.load(Map.of(), Map.of(), file("# nothing\n")).listen().port()).isEqualTo(7400);
    assertThat(FoliotConfig.load(Map.of(), Map.of(), file("server:\n  port:\n")).listen().port()).isEqualTo(7400);
  }
}
