package io.foliot.cluster.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ZooKeeperOptionsTest {
  @Test
  void theBuilderKeepsUnchangedSettings() {
    ZooKeeperOptions.Tls tls = new ZooKeeperOptions.Tls(Path.of("trust.p12"), "p", null, "");
    ZooKeeperOptions.Login login = new ZooKeeperOptions.Login.Digest("u", "secret");
    ZooKeeperOptions full = ZooKeeperOptions.builder("zookeeper://a:1,b:2/root").sessionTimeout(Duration.ofSeconds(1))
        .connectionTimeout(Duration.ofSeconds(2)).login(login).tls(tls).build();
    assertThat(full).isEqualTo(
        new ZooKeeperOptions("a:1,b:2", "/root", Duration.ofSeconds(1), Duration.ofSeconds(2), login, tls));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThat(full.toString()).doesNotContain("secret");
    assertThatThrownBy(() -> full.toBuilder().sessionTimeout(Duration.ZERO).build())
        .hasMessageContaining("a timeout is from");
  }
}
