package io.foliot.delivery.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** A resolver of host names. It may block, because it is called only on threads for look-ups. */
@FunctionalInterface
public interface Resolver {
  /**
   * Returns the addresses of a name, best first.
   *
   * @throws UnknownHostException if the name has no address
   */
  List<InetAddress> resolve(String host) throws UnknownHostException;

  /** Returns the resolver of the operating system. */
  static Resolver system() {
    return host -> List.of(InetAddress.getAllByName(host));
  }
}
