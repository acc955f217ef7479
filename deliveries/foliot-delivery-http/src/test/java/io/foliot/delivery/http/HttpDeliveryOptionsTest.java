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
    List<Cidr> denied = List.of(Cidr.parse("8.8.8.8"));
    List<PortRange> ports = List.of(PortRange.parse("443"), PortRange.parse("8000-8999"));
    SSLContext trust = SSLContext.getDefault();
    HttpDeliveryOptions full = HttpDeliveryOptions.builder().allowedNetworks(networks).deniedNetworks(denied)
        .ports(ports).allowLoopback(true).allowUnresolved(true).connectTimeout(Duration.ofSeconds(1))
        .addressTtl(Duration.ofSeconds(2))
        .connectionsPerDestination(3).maxInFlight(4).ioThreads(5).version("6").tls(trust).build();
    assertThat(full).isEqualTo(new HttpDeliveryOptions(networks, denied, ports, true, true, Duration.ofSeconds(1),
        Duration.ofSeconds(2), 3, 4, 5, "6", trust));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThatThrownBy(() -> full.toBuilder().ioThreads(0).build()).hasMessageContaining("ioThreads is at least 1");
  }

  @Test
  void aRangeOfPortsIsParsedStrictly() {
    assertThat(PortRange.parse("443")).isEqualTo(new PortRange(443, 443));
    assertThat(PortRange.parse("1024-65535")).isEqualTo(new PortRange(1_024, 65_535));
    for (String text : List.of("", "0", "65536", "2-1", "-", "1-", "-1", "a", "1-2-3", " 1", "+1")) {
      assertThatThrownBy(() -> PortRange.parse(text)).as(text).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
