package io.foliot.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Parameters;

/** The task that a command is about: its id, or its queue and key. */
final class TaskName {
  @Parameters(index = "0..1", arity = "1..2", paramLabel = "ID | QUEUE KEY", hideParamSyntax = true, description = "the task's id, or its queue and key")
  private List<String> words = new ArrayList<>();

  boolean isId() {
    return words.size() == 1;
  }

  String id() {
    return words.getFirst();
  }

  String queue() {
    return words.getFirst();
  }

  String key() {
    return words.getLast();
  }

  /** Where the API has it. */
  String path() {
    return isId()
        ? "/v1/tasks/" + Remote.segment(id())
        : "/v1/queues/" + Remote.segment(queue()) + "/keys/" + Remote.segment(key());
  }
}
