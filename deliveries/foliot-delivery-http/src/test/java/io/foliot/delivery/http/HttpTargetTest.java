package io.foliot.delivery.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Target;
import io.foliot.core.SystemClock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests how the HTTP delivery parses and checks the settings of a target. */
class HttpTargetTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  private static Target target(Map<String, String> settings) {
    return new Target("http", settings, Duration.ofSeconds(1));
  }

  private static InetAddress address(String literal) throws UnknownHostException {
    byte[] bytes = IpLiteral.parse(literal);
    if (bytes == null) {
      throw new UnknownHostException(literal);
    }
    return InetAddress.getByAddress(bytes);
  }

  private static HttpDelivery delivery(HttpDeliveryOptions options, Resolver resolver) {
    return new HttpDelivery(options, new SystemClock(), resolver, null);
  }

  private static void refuses(HttpDelivery delivery, Map<String, String> settings, String... messageParts) {
    assertThatThrownBy(() -> check(delivery, target(settings))).as(settings.keySet().toString())
        .isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll(messageParts);
  }

  /** Waits for a check. Throws the exception of the check if it refuses the target. */
  static void check(HttpDelivery delivery, Target target) {
    try {
      Void unused = delivery.check(target).toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof IllegalArgumentException refused ? refused : e;
    }
  }

  @Test
  void ambiguousUrlsAreRefused() {
    assertThat(List.of("ftp://a.test/", "file:///etc/passwd", "a.test", "//a.test/", "http:a.test", "http:///x",
        "http://",
        "https://?x", "http://user@a.test/", "http://user:pw@a.test/", "http://a.test@b.test/", "http://a.test:0/",
        "http://a.test:65536/", "http://a.test:/", "http://a.test:8a/", "http://a.test:+80/", "http://a.test/#x",
        "http://a.test\\@b.test/", "http://a.test/a b", "http://a.test/\r\nx: y", "http://a\u00e4.test/",
        "http://a.test./", "http://.a.test/", "http://a..test/", "http://%61.test/", "http://127.0.0.1%2f/",
        "http://0177.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0x7f000001/",
        "http://a.0x7f/", "http://1.2.3.4.5/", "http://[::1", "http://::1/", "http://[fe80::1%25eth0]/", "http://[]/",
        "http://[1.2.3.4]/", "http://[::1]x/", "http://[::1]:/", "http://a_b!.test/", "http://-a.test/",
        "http://\uff11\uff12\uff17.0.0.1/", "http://a.test/\u3002", "java:http://a.test/", " http://a.test/",
        "http://a.test/" + "x".repeat(2_048)))
        .allSatisfy(url -> assertThatThrownBy(() -> CallbackUrl.parse(url)).as(url)
            .isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith("delivery.url"));
  }

  @Test
  void urlsAreParsedIntoParts() {
    assertThat(CallbackUrl.parse("HTTP://A.Test")).isEqualTo(new CallbackUrl(false, "a.test", 80, "/"));
    assertThat(CallbackUrl.parse("https://a.test?x=1")).isEqualTo(new CallbackUrl(true, "a.test", 443, "/?x=1"));
    assertThat(CallbackUrl.parse("http://my_service:8080/a//b?c=d%20e"))
        .isEqualTo(new CallbackUrl(false, "my_service", 8080, "/a//b?c=d%20e"));
    assertThat(CallbackUrl.parse("https://[2001:DB8::1]:8443/x").destination()).isEqualTo("https://[2001:db8::1]:8443");
    assertThat(CallbackUrl.parse("http://1.2.3.4/").literal()).containsExactly(1, 2, 3, 4);
  }

  @Test
  void unknownSettingsAreRefusedWithTheNearestKnownOne() {
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT, host -> List.of(address("8.8.8.8")))) {
      refuses(delivery, Map.of("url", "http://a.test/", "secrets", SECRET), "did you mean secret?", "setting=secrets");
      refuses(delivery, Map.of("uri", "http://a.test/"), "did you mean url?", "setting=uri");
      refuses(delivery, Map.of(), "needs a url");
      assertThatThrownBy(() -> check(delivery, new Target("kafka", Map.of(), Duration.ofSeconds(1))))
          .hasMessageContaining("type=kafka");
    }
  }

  @Test
  void malformedSecretsAreRefusedAndNotShown() {
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT, host -> List.of(address("8.8.8.8")))) {
      for (String secret : List.of("", "hunter2", "whsec_", "whsec_aHVudGVyMg==", "whsec_!!!hunter2",
          SECRET + "  hunter2", SECRET + "," + SECRET, (SECRET + " ").repeat(5))) {
        assertThatThrownBy(() -> check(delivery, target(Map.of("url", "http://a.test/", "secret", secret)))).as(secret)
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("delivery.secret")
            .hasMessageNotContaining("hunter2").hasMessageNotContaining("aHVudGVy").hasMessageNotContaining("MfKQ9r8G");
      }
      check(delivery, target(Map.of("url", "http://a.test/", "secret", SECRET + " " + SECRET)));
    }
  }

  @Test
  void aNameWithAnyDeniedAddressIsRefused() {
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT,
        host -> List.of(address("8.8.8.8"), address("10.0.0.1")))) {
      refuses(delivery, Map.of("url", "http://a.test/"), "private", "--allow-network", "address=10.0.0.1");
      refuses(delivery, Map.of("url", "http://127.0.0.1/"), "loopback");
      refuses(delivery, Map.of("url", "http://[::ffff:8.8.8.8]/"), "--allow-network");
      refuses(delivery, Map.of("url", "http://169.254.169.254/latest"), "metadata");
      check(delivery, target(Map.of("url", "http://8.8.8.8/")));
    }
  }

  @Test
  void anUnresolvedNameIsRefusedWithARemedy() {
    Resolver none = host -> {
      throw new UnknownHostException(host);
    };
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT, none)) {
      refuses(delivery, Map.of("url", "http://a.test/"), "does not resolve", "create its DNS entry", "host=a.test");
    }
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.builder().allowUnresolved(true).build(), none)) {
      check(delivery, target(Map.of("url", "http://a.test/")));
    }
  }

  @Test
  void theCheckOfATargetEndsWhileTheNameServerHangs() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Resolver hanging = host -> {
      try {
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new UnknownHostException(host);
    };
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT, hanging)) {
      long start = System.nanoTime();
      check(delivery, target(Map.of("url", "http://a.test/")));
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    } finally {
      end.countDown();
    }
  }

  @Test
  void aDestinationIsASchemeHostAndPort() {
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.DEFAULT, host -> List.of(address("8.8.8.8")))) {
      assertThat(delivery.destination(target(Map.of("url", "https://A.test/x?token=1"))))
          .isEqualTo("https://a.test:443");
      assertThat(delivery.destination(target(Map.of("url", "https://a.test:443/y")))).isEqualTo("https://a.test:443");
      assertThat(delivery.destination(target(Map.of()))).isEqualTo("http");
    }
  }

  @Test
  void aBoundedNumberOfParsedTargetsIsKept() {
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.builder().build(), Resolver.system())) {
      for (int i = 0; i < 12_000; i++) {
        String url = "http://h" + i + ".test:8081/";
        assertThat(delivery.destination(target(Map.of("url", url)))).contains("h" + i + ".test:8081");
        assertThat(delivery.targetsKept()).isLessThanOrEqualTo(10_000);
      }
      assertThat(delivery.targetsKept()).as("the limit is used fully").isEqualTo(10_000);
    }
  }

  @Test
  void aMalformedTargetIsNotKept() {
    try (HttpDelivery delivery = delivery(HttpDeliveryOptions.builder().build(), Resolver.system())) {
      assertThat(delivery.destination(target(Map.of("url", "no url")))).isEqualTo("http");
      assertThat(delivery.targetsKept()).isZero();
    }
  }

  @Test
  void onlyAllowedPortsAreReached() {
    HttpDeliveryOptions narrow = HttpDeliveryOptions.builder().ports(List.of(PortRange.parse("443"),
        PortRange.parse("8000-8999"))).build();
    Resolver resolver = host -> List.of(InetAddress.getByAddress(new byte[]{8, 8, 8, 8}));
    try (HttpDelivery usual = new HttpDelivery(HttpDeliveryOptions.DEFAULT, new SystemClock(), resolver, null);
        HttpDelivery strict = new HttpDelivery(narrow, new SystemClock(), resolver, null)) {
      check(usual, Attempts.target("http://shop.test:22/hook"));
      check(strict, Attempts.target("https://shop.test/hook"));
      check(strict, Attempts.target("http://shop.test:8080/hook"));
      for (String port : List.of("22", "25", "6379", "7999", "9000")) {
        assertThatThrownBy(() -> check(strict, Attempts.target("http://shop.test:" + port + "/hook")))
            .isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll("port=" + port, "delivery.ports");
      }
      assertThatThrownBy(() -> check(strict, Attempts.target("http://shop.test/hook")))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("port=80");
    }
  }
}
