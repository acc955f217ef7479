package io.foliot.kill;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The host of a server, and the way in which it and this machine reach each other.
 *
 * @param host the address that it listens on
 * @param receiverHost the address of this machine that it calls back
 * @param launcher the beginning of a command that runs there
 * @param options its options of the command line
 * @param apiKey the key for clients; null where it is open to this machine
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
