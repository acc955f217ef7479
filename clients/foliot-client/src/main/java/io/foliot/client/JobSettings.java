package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The definition of a recurring job, for {@link FoliotClient#putJob}. The server checks it, and has a default for each
 * setting that is left out.
 */
public final class JobSettings {
  private final Builder from;

  private JobSettings(Builder from) {
    this.from = from.copy();
  }

  /** Returns a builder of a job whose runs are tasks of a queue. It has one of cron, every, after and at. */
  public static Builder inQueue(String queue) {
    return new Builder(queue);
  }

  void write(JsonGenerator json) {
    json.writeStringProperty("queue", from.queue);
    json.writeObjectPropertyStart("schedule");
    Json.write(json, "cron", from.cron);
    Json.write(json, "every", from.every);
    Json.write(json, "after", from.after);
    Json.write(json, "at", from.at);
    Json.write(json, "zone", from.zone);
    if (!from.exclude.isEmpty()) {
      Json.writeTexts(json, "exclude", from.exclude);
    }
    json.writeEndObject();
    Json.write(json, "shards", from.shards);
    if (!from.shardParameters.isEmpty()) {
      Json.writeTexts(json, "shardParameters", from.shardParameters);
    }
    Json.write(json, "overlap", from.overlap);
    if (from.misfire != null) {
      json.writeObjectPropertyStart("misfire");
      json.writeStringProperty("policy", from.misfire);
      Json.write(json, "window", from.window);
      json.writeEndObject();
    }
    Json.write(json, "timeout", from.timeout);
    if (from.parameter != null) {
      Json.writeJson(json, "parameter", from.parameter);
    }
    Json.write(json, "maxAttempts", from.maxAttempts);
    Json.write(json, "pauseAfterFailures", from.pauseAfterFailures);
    Json.write(json, "scope", from.scope);
    Json.write(json, "allocation", from.allocation);
    if (!from.zones.isEmpty()) {
      Json.writeTexts(json, "zones", from.zones);
    }
  }

  /** Collects settings. One thread. */
  public static final class Builder {
    private final String queue;
    private @Nullable String cron;
    private @Nullable Duration every;
    private @Nullable Duration after;
    private @Nullable Instant at;
    private @Nullable String zone;
    private List<String> exclude = List.of();
    private @Nullable Integer shards;
    private List<String> shardParameters = List.of();
    private @Nullable String overlap;
    private @Nullable String misfire;
    private @Nullable Duration window;
    private @Nullable Duration timeout;
    private @Nullable String parameter;
    private @Nullable Integer maxAttempts;
    private @Nullable Integer pauseAfterFailures;
    private @Nullable String scope;
    private @Nullable String allocation;
    private List<String> zones = List.of();

    private Builder(String queue) {
      this.queue = Names.requireName("queue", queue);
    }

    private Builder copy() {
      Builder copy = new Builder(queue);
      copy.cron = cron;
      copy.every = every;
      copy.after = after;
      copy.at = at;
      copy.zone = zone;
      copy.exclude = exclude;
      copy.shards = shards;
      copy.shardParameters = shardParameters;
      copy.overlap = overlap;
      copy.misfire = misfire;
      copy.window = window;
      copy.timeout = timeout;
      copy.parameter = parameter;
      copy.maxAttempts = maxAttempts;
      copy.pauseAfterFailures = pauseAfterFailures;
      copy.scope = scope;
      copy.allocation = allocation;
      copy.zones = zones;
      return copy;
    }

    /** Sets the times of a cron expression. */
    public Builder cron(String expression) {
      cron = Names.requireWellFormed("cron", expression);
      return this;
    }

    /** Sets a fixed rate. */
    public Builder every(Duration period) {
      every = period;
      return this;
    }

    /** Sets a fixed delay after the end of the last run. */
    public Builder after(Duration delay) {
      after = delay;
      return this;
    }

    /** Sets the only time. */
    public Builder at(Instant time) {
      at = time;
      return this;
    }

    /** Sets the zone of local times, such as {@code Europe/Berlin}; by default UTC. */
    public Builder zone(String name) {
      zone = Names.requireWellFormed("zone", name);
      return this;
    }

    /** Sets the calendars whose days are not scheduled. */
    public Builder exclude(String... calendars) {
      exclude = List.of(calendars);
      return this;
    }

    /** Sets the number of shards of a run, with a text for each of the first ones. */
    public Builder shards(int count, String... parameters) {
      shards = count;
      shardParameters = List.of(parameters);
      return this;
    }

    /** Sets what happens to a time that comes while a run is active: skip, queue, replace or allow. */
    public Builder overlap(String rule) {
      overlap = Names.requireWellFormed("overlap", rule);
      return this;
    }

    /** Sets what happens to times that are found late: once, all or skip; and how late they may run. */
    public Builder misfire(String policy, @Nullable Duration latest) {
      misfire = Names.requireWellFormed("misfire", policy);
      window = latest;
      return this;
    }

    /** Sets how long a run may take. */
    public Builder timeout(Duration longest) {
      timeout = longest;
      return this;
    }

    /**
     * Sets the payload of each shard.
     *
     * @throws IllegalArgumentException if it is not exactly one JSON value
     */
    public Builder parameter(String json) {
      parameter = Json.requireOneValue("parameter", json);
      return this;
    }

    /** Sets the attempts of a shard, instead of the queue's. */
    public Builder maxAttempts(int attempts) {
      maxAttempts = attempts;
      return this;
    }

    /** Sets after how many failed runs in a row the job is paused. */
    public Builder pauseAfterFailures(int failures) {
      pauseAfterFailures = failures;
      return this;
    }

    /** Sets on how many workers a run runs: one, per-zone or all. With per-zone, the zones; none for those in use. */
    public Builder scope(String where, String... zoneNames) {
      scope = Names.requireWellFormed("scope", where);
      zones = List.of(zoneNames);
      return this;
    }

    /** Sets how shards are divided among workers: average, free, odd-even, hash or round-robin. */
    public Builder allocation(String rule) {
      allocation = Names.requireWellFormed("allocation", rule);
      return this;
    }

    /** Returns the settings. */
    public JobSettings build() {
      return new JobSettings(this);
    }
  }
}
