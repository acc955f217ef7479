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
 * The changes that a command makes to the settings of a queue or of a job. The settings are read before and after the
 * command.
 *
 * @param isNew whether the queue or job did not exist before
 * @param lines one line for each setting that has changed, in the order of the names
 * @param after the queue or job after the command
 */
record SettingsDifference(boolean isNew, List<String> lines, JsonView after) {
  /** Names of the fields of a queue in the API that are not settings. */
  private static final Set<String> STATE_OF_QUEUE = Set.of("queue", "stats");
  /** Names of the fields of a job in the API that are not settings. */
  static final Set<String> STATE_OF_JOB = Set.of("job", "state", "version", "createdAt", "pause", "nextTimes",
      "waiting", "active", "totals", "endedByHandler", "waitsFor", "error");

  /** Performs a command on a queue and returns the changes that it has made. */
  static SettingsDifference ofQueue(ServerConnection remote, String queue, Consumer<FoliotClient> act) {
    return by(remote, "/v1/queues/" + ServerConnection.segment(queue), STATE_OF_QUEUE, () -> remote.run(act));
  }

  /** Performs a command on a job and returns the changes that it has made. */
  static SettingsDifference ofJob(ServerConnection remote, String job, Runnable act) {
    return by(remote, "/v1/jobs/" + ServerConnection.segment(job), STATE_OF_JOB, act);
  }

  private static SettingsDifference by(ServerConnection remote, String path, Set<String> state, Runnable act) {
    JsonView before = JsonView.parse(remote.getIfAny(path));
    act.run();
    JsonView after = JsonView.parse(remote.get(path));
    return new SettingsDifference(!before.exists(), differences(settings(before, state), settings(after, state)),
        after);
  }

  private static List<String> differences(Map<String, String> before, Map<String, String> after) {
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream().filter(name -> !Objects.equals(before.get(name), after.get(name)))
        .map(name -> "  " + name + " is " + after.getOrDefault(name, "not set") + ", and was "
            + before.getOrDefault(name, "not set"))
        .toList();
  }

  private static Map<String, String> settings(JsonView object, Set<String> state) {
    Map<String, String> settings = new TreeMap<>();
    object.names().stream().filter(name -> !state.contains(name))
        .forEach(name -> add(settings, name, object.at(name)));
    return settings;
  }

  private static void add(Map<String, String> settings, String name, JsonView value) {
    if (!value.names().isEmpty()) {
      value.names().forEach(part -> add(settings, name + "." + part, value.at(part)));
    } else if (value.exists()) {
      settings.put(name, value.json());
    }
  }
}
