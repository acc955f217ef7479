package io.foliot.client;

import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Which live tasks of a queue a call is about: those that pass all of its parts.
 *
 * @param states the states, of DELAYED, READY and RUNNING; null for all three
 * @param keyPrefix the beginning of the key; null for any key and none
 * @param dueBefore the instant before which the task is due; null for any
 */
public record TaskFilter(@Nullable Set<TaskState> states, @Nullable String keyPrefix, @Nullable Instant dueBefore) {
  public TaskFilter {
    states = states == null ? null : Set.copyOf(states);
  }

  /** Returns the filter that every live task passes. */
  public static TaskFilter all() {
    return new TaskFilter(null, null, null);
  }

  /** Returns the filter with these states and no others. */
  public TaskFilter withStates(TaskState first, TaskState... others) {
    return new TaskFilter(EnumSet.of(first, others), keyPrefix, dueBefore);
  }

  /** Returns the filter with this beginning of the key. */
  public TaskFilter withKeyPrefix(String prefix) {
    return new TaskFilter(states, Names.requireName("keyPrefix", prefix), dueBefore);
  }

  /** Returns the filter with this instant, before which the task is due. */
  public TaskFilter withDueBefore(Instant instant) {
    return new TaskFilter(states, keyPrefix, instant);
  }

  void write(JsonGenerator json) {
    if (states == null && keyPrefix == null && dueBefore == null) {
      json.writeBooleanProperty("all", true);
    }
    if (states != null) {
      Json.writeTexts(json, "states", states.stream().map(TaskState::name).sorted().toList());
    }
    Json.write(json, "keyPrefix", keyPrefix);
    Json.write(json, "dueBefore", dueBefore);
  }
}
