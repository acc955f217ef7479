package io.foliot.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Parameters;

/** The arguments that name a task: its id, or its queue and key. */
final class TaskName {
  private static final Pattern ID = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  @Parameters(index = "0..1", arity = "1..2", paramLabel = "ID | QUEUE KEY", hideParamSyntax = true, description = "the task's id, or its queue and key")
  private List<String> words = new ArrayList<>();

  boolean isId() {
    return words.size() == 1;
  }

  String id() {
    String id = words.getFirst();
    if (!ID.matcher(id).matches()) {
      throw CommandException
          .usage("\"" + Shell.plain(id) + "\" is not the id of a task, which is a UUID; if it is a key,"
              + " name its queue before it: QUEUE " + Shell.plain(id));
    }
    return id;
  }

  String queue() {
    return words.getFirst();
  }

  String key() {
    return words.getLast();
  }

  /** Returns the task's path in the API. */
  String path() {
    return isId()
        ? "/v1/tasks/" + ServerConnection.segment(id())
        : "/v1/queues/" + ServerConnection.segment(queue()) + "/keys/" + ServerConnection.segment(key());
  }
}
