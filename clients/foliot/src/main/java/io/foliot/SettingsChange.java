package io.foliot;

import io.foliot.core.Retry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A caller's change of a queue's settings. A setting that is null here keeps its value. */
record SettingsChange(@Nullable Retry retry, @Nullable Integer concurrency, @Nullable Double rate,
    @Nullable Integer priority, @Nullable Duration timeout, @Nullable Integer maxJobs,
    @Nullable Integer maxShards) {
  static final SettingsChange NONE = new SettingsChange(null, null, null, null, null, null, null);

  static SettingsChange retry(Retry retry) {
    return new SettingsChange(retry, null, null, null, null, null, null);
  }

  static SettingsChange concurrency(int attempts) {
    return new SettingsChange(null, attempts, null, null, null, null, null);
  }

  static SettingsChange rate(double perSecond) {
    return new SettingsChange(null, null, perSecond, null, null, null, null);
  }

  static SettingsChange priority(int priority) {
    return new SettingsChange(null, null, null, priority, null, null, null);
  }

  static SettingsChange timeout(Duration timeout) {
    return new SettingsChange(null, null, null, null, timeout, null, null);
  }

  static SettingsChange maxJobs(int jobs) {
    return new SettingsChange(null, null, null, null, null, jobs, null);
  }

  static SettingsChange maxShards(int shards) {
    return new SettingsChange(null, null, null, null, null, null, shards);
  }
}
