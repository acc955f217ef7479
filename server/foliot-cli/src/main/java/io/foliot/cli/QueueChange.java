package io.foliot.cli;

import io.foliot.client.FoliotClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The changes that a command makes to the settings of a queue. The settings are read before and after the command.
 *
 * @param isNew whether the queue did not exist before
 * @param lines one line for each setting that has changed, in the order of the names
 */
record QueueChange(boolean isNew, List<String> lines) {
  /** Names of the fields of a queue in the API that are not settings. */
  private static final Set<String> NO_SETTINGS = Set.of("queue", "stats");

  /** Performs a command and returns the changes that it has made. */
  static QueueChange by(ServerConnection remote, String queue, Consumer<FoliotClient> act) {
    String path = "/v1/queues/" + ServerConnection.segment(queue);
    JsonView before = JsonView.parse(remote.getIfAny(path));
    remote.run(act);
    JsonView after = JsonView.parse(remote.get(path));
    return new QueueChange(!before.exists(), differences(settings(before), settings(after)));
  }

  private static List<String> differences(Map<String, String> before, Map<String, String> after) {
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream().filter(name -> !Objects.equals(before.get(name), after.get(name)))
        .map(name -> "  " + name + " is " + after.getOrDefault(name, "not set") + ", and was "
            + before.getOrDefault(name, "not set"))
        .toList();
  }

  private static Map<String, String> settings(JsonView queue) {
    Map<String, String> settings = new TreeMap<>();
    addSettings(settings, "", queue);
    return settings;
  }

  private static void addSettings(Map<String, String> settings, String prefix, JsonView view) {
    for (String name : view.names()) {
      if (prefix.isEmpty() && NO_SETTINGS.contains(name)) {
        continue;
      }
      JsonView value = view.at(name);
      if (value.names().isEmpty()) {
        if (value.exists()) {
          settings.put(prefix + name, value.text());
        }
      } else {
        addSettings(settings, prefix + name + ".", value);
      }
    }
  }
}
