package io.foliot.cli;

import io.foliot.server.config.Defaults;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option for the address of the server, for all commands that call a server. */
final class ServerOption {
  @Option(names = "--url", paramLabel = "URL", description = {
      "the server's address; else FOLIOT_URL, else", Defaults.URL + ".",
      "The server's API key, if it needs one, comes from FOLIOT_API_KEY; a file (PEM) of the certificates that prove its"
          + " identity comes from FOLIOT_CA"})
  private @Nullable String url;

  ServerConnection open(Shell shell) {
    return ServerConnection.of(url, shell);
  }
}
