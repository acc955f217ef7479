package io.foliot.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which server a command talks to; part of every command that does. */
final class ServerOption {
  @Option(names = "--url", paramLabel = "URL", description = {
      "the server's address; else FOLIOT_URL, else http://127.0.0.1:7400.",
      "Its API key, if it needs one, comes from FOLIOT_API_KEY"})
  private @Nullable String url;

  Remote open(Shell shell) {
    return Remote.of(url, shell);
  }
}
