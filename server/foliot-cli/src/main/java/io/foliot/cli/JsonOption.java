package io.foliot.cli;

import picocli.CommandLine.Option;

/** The option for output that programs read. */
final class JsonOption {
  @Option(names = "--json", description = "print JSON, for scripts")
  private boolean json;

  boolean isSet() {
    return json;
  }
}
