package io.foliot.cli;

import picocli.CommandLine.Option;

/** Whether the output is for programs; part of every command that shows something. */
final class JsonOption {
  @Option(names = "--json", description = "print JSON, for scripts")
  private boolean json;

  boolean isSet() {
    return json;
  }
}
