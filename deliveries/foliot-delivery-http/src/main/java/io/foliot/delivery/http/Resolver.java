package io.foliot.delivery.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Finds the addresses of a host. May block; it is never called on a thread that must not. */
@FunctionalInterface
public interface Resolver {
  /**
   * The addresses of a name, best first.
   *
   * @throws UnknownHostException if it has none
   */
  List<InetAddress> resolve(String host) throws UnknownHostException;

  /** The resolver of the machine. */
  static Resolver system() {
    return host -> List.of(InetAddress.getAllByName(host));
  }
}
