package io.foliot.delivery.http;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The addresses that a callback may reach. Public addresses are permitted. The operator may allow further networks, and
 * the loopback addresses, and deny public networks. The addresses of cloud metadata services and of similar services
 * are never permitted. Clouds have further services at link-local addresses, so an allowed network that is wider than
 * the link-local range does not permit them.
 *
 * <p>Some IPv6 addresses contain an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP). Such an
 * IPv6 address is permitted only if an allowed network contains it and the IPv4 address is permitted as well.
 */
public final class AddressRules {
  /** Reason of a denial by the operator. */
  static final String OPERATOR_DENIAL = "denied by the operator of this server";
  /** Reason of a denial that no operator can lift. Operators can lift all other denials. */
  static final String METADATA_DENIAL = "cloud metadata, never permitted";

  private static final List<Cidr> METADATA = networks(
      // Amazon, Google, Azure, DigitalOcean, OpenStack
      "169.254.169.254",
      // Amazon: time, DNS, credentials of containers and pods, metadata over IPv6
      "169.254.169.123", "169.254.169.253", "169.254.170.2", "169.254.170.23",
      "fd00:ec2::254", "fd00:ec2::23", "fd00:ec2::253", "fd00:ec2::123",
      // Google over IPv6, Azure's wire server
      "fd20:ce::254", "168.63.129.16",
      // Alibaba: metadata, DNS, time
      "100.100.100.200", "100.100.2.136", "100.100.2.138", "100.100.61.88",
      // Oracle, Scaleway, Tencent
      "192.0.0.192", "169.254.42.42", "fd00:42::42", "169.254.0.23", "169.254.0.55", "169.254.10.10");

  /** Ranges in which clouds repeat the IPv4 address of a metadata service as the last bytes of an IPv6 address. */
  private static final List<Cidr> METADATA_SUFFIX = networks("fc00::/7", "fe80::/10");

  /** Ranges that only an allowed network inside them permits. */
  private static final List<Cidr> NARROW = networks("169.254.0.0/16", "fe80::/10");

  private static final List<Range> DENIED_V4 = List.of(new Range("this host (unspecified)", "0.0.0.0/8"),
      new Range("private", "10.0.0.0/8"), new Range("carrier-grade NAT", "100.64.0.0/10"),
      new Range("loopback", "127.0.0.0/8"), new Range("link-local", "169.254.0.0/16"),
      new Range("private", "172.16.0.0/12"), new Range("reserved", "192.0.0.0/24"),
      new Range("documentation", "192.0.2.0/24"), new Range("reserved", "192.31.196.0/24"),
      new Range("reserved", "192.52.193.0/24"), new Range("6to4 relay", "192.88.99.0/24"),
      new Range("private", "192.168.0.0/16"), new Range("reserved", "192.175.48.0/24"),
      new Range("services of a cloud", "161.26.0.0/16"), new Range("services of a cloud", "166.8.0.0/14"),
      new Range("benchmarking", "198.18.0.0/15"), new Range("documentation", "198.51.100.0/24"),
      new Range("documentation", "203.0.113.0/24"), new Range("multicast", "224.0.0.0/4"),
      new Range("reserved or broadcast", "240.0.0.0/4"));

  /** Denied IPv6 ranges. A narrow range, which has an exact name, comes before the wider range that contains it. */
  private static final List<Range> DENIED_V6 = List.of(new Range("unspecified", "::/128"),
      new Range("loopback", "::1/128"), new Range("IPv4-mapped", "::ffff:0:0/96"),
      new Range("IPv4-translated", "::ffff:0:0:0/96"), new Range("IPv4-compatible", "::/96"),
      new Range("NAT64", "64:ff9b::/96"), new Range("NAT64", "64:ff9b:1::/48"), new Range("discard", "100::/64"),
      new Range("Teredo", "2001::/32"), new Range("reserved", "2001::/23"), new Range("documentation", "2001:db8::/32"),
      new Range("6to4", "2002::/16"), new Range("documentation", "3fff::/20"), new Range("unique local", "fc00::/7"),
      new Range("link-local", "fe80::/10"), new Range("site-local", "fec0::/10"), new Range("multicast", "ff00::/8"));

  private static final Cidr GLOBAL_V6 = Cidr.parse("2000::/3");
  private static final Cidr LOOPBACK_V4 = Cidr.parse("127.0.0.0/8");
  private static final Cidr LOOPBACK_V6 = Cidr.parse("::1");

  /**
   * IPv6 networks whose addresses contain an IPv4 address, and the positions of the IPv4 bytes. An inversion of 0xFF
   * means that each of these bytes is stored inverted, as Teredo does with the address of a client.
   */
  private static final List<Carrier> CARRIERS = List.of(Carrier.at("::ffff:0:0/96", 12, 13, 14, 15),
      Carrier.at("::ffff:0:0:0/96", 12, 13, 14, 15), Carrier.at("::/96", 12, 13, 14, 15),
      Carrier.at("64:ff9b::/96", 12, 13, 14, 15), Carrier.at("64:ff9b:1::/48", 12, 13, 14, 15),
      Carrier.at("2002::/16", 2, 3, 4, 5), Carrier.at("2001::/32", 4, 5, 6, 7),
      new Carrier(Cidr.parse("2001::/32"), new int[]{12, 13, 14, 15}, 0xFF));

  /**
   * NAT64 networks with prefixes of 48, 56 and 64 bits. The IPv4 address inside such an address skips byte 8 (RFC
   * 6052). If the first IPv4 byte is 0, the address is not checked: its prefix is assumed to have 96 bits.
   */
  private static final List<Carrier> SHORT_CARRIERS = List.of(Carrier.at("64:ff9b:1::/48", 6, 7, 9, 10),
      Carrier.at("64:ff9b:1::/48", 7, 9, 10, 11), Carrier.at("64:ff9b:1::/48", 9, 10, 11, 12));

  /** Placeholder for "no IPv4 address". Its first byte is 0, so it is not checked. */
  private static final byte[] NO_ADDRESS = new byte[4];

  private final List<Cidr> allowed;
  private final List<Cidr> denied;
  private final boolean allowLoopback;

  /**
   * Creates the rules. They allow the given networks, and also 127.0.0.0/8 and ::1 if {@code allowLoopback} is true.
   * Denied networks take precedence over all that is allowed.
   */
  public AddressRules(List<Cidr> allowed, List<Cidr> denied, boolean allowLoopback) {
    this.allowed = List.copyOf(allowed);
    this.denied = List.copyOf(denied);
    this.allowLoopback = allowLoopback;
  }

  private record Range(String name, Cidr network) {
    Range(String name, String network) {
      this(name, Cidr.parse(network));
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Carrier(Cidr network, int[] positions, int inversion) {
    static Carrier at(String network, int... positions) {
      return new Carrier(Cidr.parse(network), positions, 0);
    }

    byte[] carried(byte[] address) {
      byte[] bytes = new byte[4];
      for (int i = 0; i < 4; i++) {
        bytes[i] = (byte) (address[positions[i]] ^ inversion);
      }
      return bytes;
    }
  }

  /** Returns why an address is denied, in a few words; null if it is permitted. */
  public @Nullable String denial(InetAddress address) {
    return denial(address.getAddress());
  }

  /** Returns the same as {@link #denial(InetAddress)}, for an address of 4 or 16 bytes in network order. */
  @Nullable
  String denial(byte[] address) {
    if (isIn(METADATA, address) || hasMetadataSuffix(address)) {
      return METADATA_DENIAL;
    }
    if (isIn(denied, address)) {
      return OPERATOR_DENIAL;
    }
    if (allowLoopback && (LOOPBACK_V4.contains(address) || LOOPBACK_V6.contains(address))) {
      return null;
    }
    String range = address.length == 4 ? rangeOf(DENIED_V4, address) : denialV6(address);
    return range != null && isAllowed(address) ? carriedDenial(address) : range;
  }

  private static boolean hasMetadataSuffix(byte[] address) {
    return isIn(METADATA_SUFFIX, address) && isIn(METADATA, Arrays.copyOfRange(address, 12, 16));
  }

  private boolean isAllowed(byte[] address) {
    for (Cidr narrow : NARROW) {
      if (narrow.contains(address)) {
        return allowed.stream().anyMatch(network -> network.isWithin(narrow) && network.contains(address));
      }
    }
    return isIn(allowed, address);
  }

  private static @Nullable String denialV6(byte[] address) {
    String denied = rangeOf(DENIED_V6, address);
    if (denied != null) {
      return denied;
    }
    if (!GLOBAL_V6.contains(address)) {
      return "reserved";
    }
    return isIsatap(address) ? "ISATAP" : null;
  }

  /** Returns why the IPv4 address inside an IPv6 address is denied; null if it is permitted, or if there is none. */
  private @Nullable String carriedDenial(byte[] address) {
    if (address.length == 4 || LOOPBACK_V6.contains(address)) {
      return null;
    }
    for (Carrier carrier : CARRIERS) {
      if (carrier.network.contains(address)) {
        String denied = denial(carrier.carried(address));
        if (denied != null) {
          return denied;
        }
      }
    }
    for (Carrier carrier : SHORT_CARRIERS) {
      byte[] carried = carrier.network.contains(address) ? carrier.carried(address) : NO_ADDRESS;
      String denied = carried[0] == 0 ? null : denial(carried);
      if (denied != null) {
        return denied;
      }
    }
    return isIsatap(address) ? denial(new byte[]{address[12], address[13], address[14], address[15]}) : null;
  }

  /**
   * Returns whether an IPv6 address is an ISATAP address (RFC 5214). Its last 8 bytes begin with 00-00-5E-FE or
   * 02-00-5E-FE, and end with an IPv4 address.
   */
  private static boolean isIsatap(byte[] address) {
    return (address[8] & 0xFD) == 0 && address[9] == 0 && address[10] == 0x5E && address[11] == (byte) 0xFE;
  }

  private static @Nullable String rangeOf(List<Range> ranges, byte[] address) {
    for (Range range : ranges) {
      if (range.network.contains(address)) {
        return range.name;
      }
    }
    return null;
  }

  private static boolean isIn(List<Cidr> networks, byte[] address) {
    for (Cidr network : networks) {
      if (network.contains(address)) {
        return true;
      }
    }
    return false;
  }

  private static List<Cidr> networks(String... texts) {
    return Stream.of(texts).map(Cidr::parse).toList();
  }
}
