package io.foliot.client;

import java.util.List;

/**
 * The logs of the shards of a run, those of failed shards first.
 *
 * @param time the scheduled time of the run in the form of RFC 3339
 * @param shards the shards that failed or have a log
 * @param hasMore whether further shards may have a log
 */
public record RunLog(String time, List<RunShard> shards, boolean hasMore) {
  public RunLog {
    shards = List.copyOf(shards);
  }

  static RunLog of(JsonObject json) {
    return new RunLog(json.text("time"), json.objects("shards").stream().map(RunShard::of).toList(),
        Boolean.TRUE.equals(json.truthOrNull("more")));
  }
}
