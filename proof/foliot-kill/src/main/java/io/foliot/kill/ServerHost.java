package io.foliot.kill;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The host of a server, and the addresses by which the server and this machine reach each other.
 *
 * @param host the address on which the server listens
 * @param receiverHost the address of this machine that receives callbacks
 * @param launcher the beginning of a command that runs on the host
 * @param options the command-line options of the server
 * @param apiKey the key for clients, or null if the server needs none
 */
record ServerHost(String host, String receiverHost, List<String> launcher, List<String> options,
    @Nullable String apiKey) {
  /** This machine. */
  static final ServerHost LOOPBACK = new ServerHost("127.0.0.1", "127.0.0.1", List.of(), List.of(), null);

  ServerHost {
    launcher = List.copyOf(launcher);
    options = List.copyOf(options);
  }
}
