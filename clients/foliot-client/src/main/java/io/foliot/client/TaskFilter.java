package io.foliot.client;

import io.foliot.api.TaskState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Selects the live tasks of a queue that pass all conditions of the filter.
 *
 * @param states the permitted states out of DELAYED, READY and RUNNING; null for all three
 * @param keyPrefix the beginning of the key; null for tasks with any key or without a key
 * @param dueBefore the end of the permitted due times, exclusive; null for any due time
 */
public record TaskFilter(@Nullable Set<TaskState> states, @Nullable String keyPrefix, @Nullable Instant dueBefore) {
  public TaskFilter {
    states = states == null ? null : Set.copyOf(states);
  }

  /** Returns the filter that every live task passes. */
  public static TaskFilter all() {
    return new TaskFilter(null, null, null);
  }

  /** Returns a builder of a filter. Without any condition, every live task passes. */
  public static Builder builder() {
    return new Builder();
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

  /** Builds a {@link TaskFilter}. Not safe for use by several threads. */
  public static final class Builder {
    private @Nullable Set<TaskState> states;
    private @Nullable String keyPrefix;
    private @Nullable Instant dueBefore;

    private Builder() {}

    /** Sets the permitted states. Tasks in any other state do not pass. */
    public Builder states(TaskState first, TaskState... others) {
      return states(EnumSet.of(first, others));
    }

    /** Sets the permitted states. Tasks in any other state do not pass. */
    public Builder states(Set<TaskState> value) {
      states = value;
      return this;
    }

    /** Sets the beginning of the key. */
    public Builder keyPrefix(String prefix) {
      keyPrefix = Names.requireName("keyPrefix", prefix);
      return this;
    }

    /** Sets the end of the permitted due times, exclusive. */
    public Builder dueBefore(Instant instant) {
      dueBefore = instant;
      return this;
    }

    /** Returns the filter. */
    public TaskFilter build() {
      return new TaskFilter(states, keyPrefix, dueBefore);
    }
  }
}
