package io.foliot.delivery.http;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the rules for addresses, and the parsers of addresses and networks. */
class AddressRulesTest {
  private static final List<String> PUBLIC = List.of("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0",
      "100.63.255.255",
      "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
      "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0",
      "223.255.255.255", "2000::", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2003::1");

  private static final List<String> DENIED_V4 = List.of("0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255",
      "100.64.0.0",
      "100.127.255.255", "127.0.0.0", "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.255.255", "172.16.0.0",
      "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0",
      "198.19.255.255", "198.51.100.7", "203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0",
      "255.255.255.255");

  private static final List<String> DENIED_V6 = List.of("::", "::1", "::2", "::ffff:8.8.8.8", "::8.8.8.8",
      "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b::a00:1", "64:ff9b:1::1", "64:ff9b:1:ffff::1", "100::1",
      "2001::1",
      "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:10::1", "2001:db8::1", "2002:808:808::1", "3fff::1",
      "4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
      "2a00::5efe:10.0.0.1",
      "2a00::200:5efe:10.0.0.1");

  private static final List<String> METADATA = List.of("169.254.169.254", "169.254.170.2", "169.254.170.23",
      "fd00:ec2::254",
      "fd00:ec2::23", "fd20:ce::254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fe80::a9fe:a9fe",
      "fd00:42::42", "fd00:c1::a9fe:a9fe",
      "fd12::169.254.170.2", "100.100.2.136", "169.254.0.23");

  private final AddressRules strict = new AddressRules(List.of(), List.of(), false);
  private final AddressRules everything = new AddressRules(List.of(Cidr.parse("0.0.0.0/0"), Cidr.parse("::/0")),
      List.of(), true);

  private static byte[] bytes(String literal) {
    return requireNonNull(IpLiteral.parse(literal), literal);
  }

  @Test
  void publicAddressesArePermitted() {
    assertThat(PUBLIC).allSatisfy(address -> assertThat(strict.denial(bytes(address))).isNull());
  }

  @Test
  void addressesThatAreNotPublicAreDenied() {
    assertThat(Stream.concat(DENIED_V4.stream(), DENIED_V6.stream()))
        .allSatisfy(address -> assertThat(strict.denial(bytes(address))).isNotNull());
  }

  @Test
  void metadataIsDeniedEvenIfEverythingIsAllowed() {
    assertThat(METADATA).allSatisfy(address -> {
      assertThat(strict.denial(bytes(address))).isNotNull();
      assertThat(everything.denial(bytes(address))).contains("metadata");
    });
  }

  @Test
  void onlyALinkLocalNetworkPermitsALinkLocalAddress() {
    for (String address : List.of("169.254.129.1", "169.254.130.1", "169.254.255.255", "fe80::1")) {
      assertThat(everything.denial(bytes(address))).as(address).isEqualTo("link-local");
    }
    AddressRules narrow = new AddressRules(List.of(Cidr.parse("169.254.128.0/17")), List.of(), false);
    assertThat(narrow.denial(bytes("169.254.129.1"))).isNull();
    assertThat(narrow.denial(bytes("169.254.1.1"))).isNotNull();
    assertThat(narrow.denial(bytes("169.254.169.254"))).contains("metadata");
  }

  @Test
  void aDeniedNetworkTakesPrecedence() {
    AddressRules rules = new AddressRules(List.of(Cidr.parse("10.0.0.0/8"), Cidr.parse("64:ff9b::/96")),
        List.of(Cidr.parse("10.1.0.0/16"), Cidr.parse("8.8.8.0/24"), Cidr.parse("127.0.0.2/32")), true);
    assertThat(List.of("10.1.2.3", "8.8.8.8", "127.0.0.2", "64:ff9b::8.8.8.8"))
        .allSatisfy(address -> assertThat(rules.denial(bytes(address))).contains("operator"));
    assertThat(List.of("10.2.0.0", "8.8.4.4", "127.0.0.1", "64:ff9b::8.8.4.4"))
        .allSatisfy(address -> assertThat(rules.denial(bytes(address))).isNull());
  }

  @Test
  void servicesOfACloudAreDeniedUnlessAllowed() {
    assertThat(strict.denial(bytes("161.26.0.10"))).isNotNull();
    assertThat(everything.denial(bytes("161.26.0.10"))).isNull();
  }

  @Test
  void loopbackIsPermittedOnlyIfTheOptionsAllowIt() {
    AddressRules loopback = new AddressRules(List.of(), List.of(), true);
    assertThat(List.of("127.0.0.1", "127.9.9.9", "::1"))
        .allSatisfy(address -> assertThat(loopback.denial(bytes(address))).isNull());
    assertThat(
        List.of("0.0.0.0", "::", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1", "10.0.0.1", "2002:7f00:1::"))
        .allSatisfy(address -> assertThat(loopback.denial(bytes(address))).isNotNull());
  }

  @Test
  void anAllowedNetworkPermitsItsAddressesAndNoOthers() {
    AddressRules rules = new AddressRules(List.of(Cidr.parse("10.1.0.0/16"), Cidr.parse("fd12::/16")), List.of(),
        false);
    assertThat(List.of("10.1.0.0", "10.1.255.255", "fd12::1"))
        .allSatisfy(address -> assertThat(rules.denial(bytes(address))).isNull());
    assertThat(List.of("10.0.255.255", "10.2.0.0", "fd13::1", "::ffff:10.1.0.1", "64:ff9b::10.1.0.1", "2002:a01:1::"))
        .allSatisfy(address -> assertThat(rules.denial(bytes(address))).isNotNull());
  }

  @Test
  void anAllowedNat64NetworkReachesNoDeniedAddress() {
    AddressRules rules = new AddressRules(List.of(Cidr.parse("64:ff9b::/96"), Cidr.parse("64:ff9b:1::/48")), List.of(),
        false);
    assertThat(rules.denial(bytes("64:ff9b::8.8.8.8"))).isNull();
    assertThat(rules.denial(bytes("64:ff9b:1::8.8.8.8"))).isNull();
    assertThat(
        List.of("64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::127.0.0.1", "64:ff9b:1:a00:0:100::"))
        .allSatisfy(address -> assertThat(rules.denial(bytes(address))).isNotNull());
  }

  /**
   * An IPv6 address that contains an IPv4 address is denied by default. Even if all of IPv6 is allowed, the address is
   * denied if its IPv4 address is denied.
   */
  @Test
  void anIpv6AddressWithADeniedIpv4AddressIsDenied() {
    AddressRules allV6 = new AddressRules(List.of(Cidr.parse("::/0")), List.of(), false);
    long seed = Long.getLong("foliot.seed", System.nanoTime());
    Random random = new Random(seed);
    List<Function<byte[], byte[]>> forms = List.of(v4 -> embed("::ffff:0:0", v4, 12),
        v4 -> embed("::ffff:0:0:0", v4, 12),
        v4 -> embed("64:ff9b::", v4, 12), v4 -> embed("64:ff9b:1::", v4, 12), v4 -> embed("2002::", v4, 2),
        v4 -> embed("2001::", v4, 4), AddressRulesTest::teredoClient, v4 -> embed("2a00::5efe:0:0", v4, 12),
        v4 -> embed("2a00::200:5efe:0:0", v4, 12));
    for (int i = 0; i < 200_000; i++) {
      byte[] v4 = new byte[4];
      random.nextBytes(v4);
      if (random.nextInt(4) != 0) {
        byte[] known = bytes(DENIED_V4.get(random.nextInt(DENIED_V4.size())));
        System.arraycopy(known, 0, v4, 0, random.nextInt(4) + 1);
      }
      byte[] embedded = forms.get(random.nextInt(forms.size())).apply(v4);
      String context = "seed=" + seed + ", v4=" + List.of(v4[0] & 255, v4[1] & 255, v4[2] & 255, v4[3] & 255);
      assertThat(strict.denial(embedded)).as(context).isNotNull();
      if (strict.denial(v4) != null) {
        assertThat(allV6.denial(embedded)).as(context).isNotNull();
      }
    }
  }

  private static byte[] embed(String network, byte[] v4, int at) {
    byte[] address = bytes(network);
    System.arraycopy(v4, 0, address, at, 4);
    return address;
  }

  private static byte[] teredoClient(byte[] v4) {
    byte[] address = bytes("2001:0:808:808::");
    for (int i = 0; i < 4; i++) {
      address[12 + i] = (byte) ~v4[i];
    }
    return address;
  }

  @Test
  void addressesThatAreSpecialForTheJdkAreDenied() throws Exception {
    long seed = Long.getLong("foliot.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = new byte[random.nextBoolean() ? 4 : 16];
      random.nextBytes(bytes);
      InetAddress address = InetAddress.getByAddress(bytes);
      boolean special = address.isAnyLocalAddress() || address.isLoopbackAddress() || address.isLinkLocalAddress()
          || address.isSiteLocalAddress() || address.isMulticastAddress();
      if (special) {
        assertThat(strict.denial(address)).as("seed=%s, address=%s", seed, address).isNotNull();
      }
    }
  }

  @Test
  void malformedLiteralsAreRefused() {
    assertThat(List.of("0177.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "127.0.0.1.", "127.0.0.01",
        "1.2.3.4.5", "1.2.3", "256.1.1.1", "1.2.3.4 ", "+1.2.3.4", "1..2.3", "", ".", "\u0661.1.1.1", "fe80::1%eth0",
        "::1%0",
        "1::2::3", ":::", ":", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::1", "1:2:3:4:5:6:7::8", "1.2.3.4::",
        "::1.2.3", "::1.2.3.04", "[::1]", "::-1", "1:2:3:4:5:6:7:1.2.3.4"))
        .allSatisfy(text -> assertThat(IpLiteral.parse(text)).as(text).isNull());
  }

  @Test
  void literalsAreParsedAsTheJdkWritesThem() throws Exception {
    Random random = new Random(Long.getLong("foliot.seed", System.nanoTime()));
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextBoolean() ? 4 : 16];
      random.nextBytes(bytes);
      for (int j = 0; j < bytes.length; j++) {
        bytes[j] = random.nextInt(3) == 0 ? 0 : bytes[j];
      }
      InetAddress address = InetAddress.getByAddress(bytes);
      if (address.getAddress().length == bytes.length) {
        assertThat(IpLiteral.parse(address.getHostAddress())).as(address.getHostAddress()).isEqualTo(bytes);
      }
    }
    assertThat(IpLiteral.parse("::")).isEqualTo(new byte[16]);
    assertThat(IpLiteral.parse("1::")).startsWith(0, 1).hasSize(16);
    assertThat(IpLiteral.parse("::ffff:1.2.3.4")).endsWith(255, 255, 1, 2, 3, 4).hasSize(16);
  }

  @Test
  void malformedNetworksAreRefused() {
    assertThat(Cidr.parse("10.0.0.0/8")).isEqualTo(Cidr.parse("10.0.0.0/8")).hasToString("10.0.0.0/8");
    assertThat(
        List.of("10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "fd00::/129", "localhost",
            "10.0.0/8", "fd00::1/64", "", "/8"))
        .allSatisfy(text -> assertThatThrownBy(() -> Cidr.parse(text)).as(text)
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("like 10.0.0.0/8"));
  }

  @Test
  void aNetworkContainsExactlyTheAddressesWithItsPrefix() {
    Random random = new Random(Long.getLong("foliot.seed", System.nanoTime()));
    for (int i = 0; i < 20_000; i++) {
      int prefix = random.nextInt(33);
      int mask = prefix == 0 ? 0 : -1 << (32 - prefix);
      int network = random.nextInt() & mask;
      Cidr cidr = Cidr.parse(text(network) + "/" + prefix);
      int address = random.nextBoolean() ? random.nextInt() : network ^ (1 << random.nextInt(32));
      assertThat(cidr.contains(bytes(text(address)))).as("%s in %s", text(address), cidr)
          .isEqualTo((address & mask) == network);
    }
  }

  private static String text(int v4) {
    return (v4 >>> 24) + "." + (v4 >>> 16 & 255) + "." + (v4 >>> 8 & 255) + "." + (v4 & 255);
  }
}
