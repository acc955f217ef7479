package io.foliot.cli;

import io.foliot.client.FoliotClient;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the nodes of the cluster, its slots and its store. */
@Command(name = "cluster", description = "Shows nodes, slots, the store and the failures that the store survives.")
final class ClusterCommand implements Callable<Integer> {
  private final Shell shell;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  ClusterCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    String answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = remote.call(FoliotClient::cluster);
    }
    if (json.isSet()) {
      shell.line(answer);
      return ExitCode.OK;
    }
    JsonView view = JsonView.parse(answer);
    JsonView store = view.at("store");
    new CommandOutput().add("version", view.at("version").text()).add("node", view.at("node").text())
        .add("zone", view.at("zone").text("").isEmpty() ? "-" : view.at("zone").text())
        .add("leader", view.at("leader").text())
        .add("nodes", view.at("nodes").items().stream().map(ClusterCommand::node).collect(Collectors.joining(", ")))
        .add("slots", view.at("slots", "count").text() + ", of which this node owns "
            + view.at("slots", "owned").text())
        .add("store", store.at("kind").text() + ", durability " + store.at("durability").text() + ": "
            + store.at("detail").text())
        .add("coordinator", view.at("coordinator").text())
        .add("clock", clock(view.at("clockOffsetMicros").number()))
        .print(shell, false);
    return ExitCode.OK;
  }

  private static String clock(long offsetMicros) {
    return "the store's clock is " + Words.seconds(Math.abs(offsetMicros) / 1e6)
        + (offsetMicros < 0 ? " behind" : " ahead of") + " the node's";
  }

  private static String node(JsonView node) {
    String zone = node.at("zone").text();
    String clock = !node.at("takesSlots").text().equals("false")
        ? ""
        : ", its clock is off by " + node.at("clockOffsetMillis").text() + " ms";
    return node.at("node").text() + " (" + (zone.isEmpty() ? "" : zone + ", ") + node.at("slots").text() + " slots"
        + clock
        + ")";
  }
}
