package io.foliot.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.cluster.zookeeper.ZooKeeperOptions;
import io.foliot.delivery.http.HttpDeliveryOptions;
import io.foliot.engine.EngineOptions;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.redis.RedisOptions;
import io.foliot.store.rocksdb.RocksDbOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class DefaultsTest {
  private static final EngineOptions ENGINE = EngineOptions.defaults("node");

  @Test
  void engineOptionsHaveTheDefaultsOfTheEngine() {
    Settings unset = new Settings();
    assertThat(unset.get(Option.LOOPS)).isEqualTo(ENGINE.loops());
    assertThat(unset.get(Option.WINDOW)).isEqualTo(Duration.ofMillis(ENGINE.windowMillis()));
    assertThat(unset.get(Option.WHEEL_ENTRIES)).isEqualTo(ENGINE.wheelEntries());
    assertThat(unset.get(Option.LANE_ENTRIES)).isEqualTo(ENGINE.laneEntries());
    assertThat(unset.get(Option.READY_ENTRIES)).isEqualTo(ENGINE.readyEntries());
    assertThat(unset.get(Option.CLAIM_BATCH)).isEqualTo(ENGINE.claimBatch());
    assertThat(unset.get(Option.CALL_ITEMS)).isEqualTo(ENGINE.callItems());
    assertThat(unset.get(Option.CALL_BYTES)).isEqualTo(ENGINE.callBytes());
    assertThat(unset.get(Option.LEASE_MARGIN)).isEqualTo(Duration.ofMillis(ENGINE.leaseMarginMillis()));
    assertThat(unset.get(Option.RENEWED_LEASE)).isEqualTo(Duration.ofMillis(ENGINE.renewedLeaseMillis()));
    assertThat(unset.get(Option.MAX_CLOCK_OFFSET)).isEqualTo(Duration.ofMillis(ENGINE.maxClockOffsetMillis()));
  }

  @Test
  void serverAndEmbeddedEngineHaveTheSameDestinationLimit() {
    assertThat(new Settings().get(Option.DESTINATION_LIMIT)).isEqualTo(ENGINE.destinationLimit());
    // A destination that stops answering has at most twice as many running attempts as its limit.
    assertThat(HttpDeliveryOptions.DEFAULT.connectionsPerDestination()).isEqualTo(2 * ENGINE.destinationLimit());
  }

  @Test
  void storeOptionsHaveTheDefaultsOfTheStores() {
    Settings unset = new Settings();
    RocksDbOptions rocks = RocksDbOptions.DEFAULT;
    assertThat(unset.get(Option.RESERVE)).isEqualTo(rocks.reserveBytes());
    assertThat(unset.get(Option.RECORD_CACHE)).isEqualTo(rocks.recordCacheBytes());
    assertThat(unset.get(Option.BLOCK_CACHE)).isEqualTo(rocks.blockCacheBytes());
    assertThat(unset.get(Option.WRITE_BUFFER)).isEqualTo(rocks.writeBufferBytes());
    assertThat(unset.get(Option.LOG_SIZE)).isEqualTo(rocks.logBytes());
    RedisOptions redis = RedisOptions.at("redis://127.0.0.1");
    assertThat(unset.get(Option.STORE_NAMESPACE)).isEqualTo(redis.namespace());
    assertThat(unset.get(Option.WAIT_REPLICAS)).isEqualTo(redis.waitReplicas());
    assertThat(unset.get(Option.STORE_CONNECTIONS))
        .isEqualTo(JdbcOptions.of("jdbc:postgresql://127.0.0.1/foliot", null, null).connections());
    assertThat(unset.get(Option.CLUSTER_SESSION_TIMEOUT)).isEqualTo(ZooKeeperOptions.SESSION_TIMEOUT);
  }

  @Test
  void everyDefaultIsAnAllowedValue() {
    Settings unset = new Settings();
    assertThat(Option.all()).isNotEmpty()
        .allSatisfy(option -> assertThat(option.standard().isEmpty() || unset.get(option) != null).isTrue());
  }
}
