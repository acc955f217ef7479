package io.foliot.delivery.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;

final class HttpDeliveryOptionsTest {
  @Test
  void aBuilderOfOptionsBuildsTheSameOptions() throws NoSuchAlgorithmException {
    List<Cidr> networks = List.of(Cidr.parse("10.0.0.0/8"));
    SSLContext trust = SSLContext.getDefault();
    HttpDeliveryOptions full = HttpDeliveryOptions.builder().allowedNetworks(networks).allowLoopback(true)
        .allowUnresolved(true).connectTimeout(Duration.ofSeconds(1)).addressTtl(Duration.ofSeconds(2))
        .connectionsPerDestination(3).maxInFlight(4).ioThreads(5).version("6").tls(trust).build();
    assertThat(full).isEqualTo(new HttpDeliveryOptions(networks, true, true, Duration.ofSeconds(1),
        Duration.ofSeconds(2), 3, 4, 5, "6", trust));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThatThrownBy(() -> full.toBuilder().ioThreads(0).build()).hasMessageContaining("ioThreads is at least 1");
  }
}
