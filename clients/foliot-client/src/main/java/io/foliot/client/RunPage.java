package io.foliot.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The runs of one scheduled time of a job, and a page of their shards and listeners.
 *
 * @param runs the runs; a time that did not run has the range of times that includes it
 * @param shards the shards and listeners of this page; may be empty
 * @param nextCursor the cursor of the next page; null if this page is the last
 */
public record RunPage(List<RunView> runs, List<RunShard> shards, @Nullable String nextCursor) {
  public RunPage {
    runs = List.copyOf(runs);
    shards = List.copyOf(shards);
  }

  static RunPage of(JsonObject json) {
    return new RunPage(json.objects("runs").stream().map(RunView::of).toList(),
        json.objects("shards").stream().map(RunShard::of).toList(), json.textOrNull("next"));
  }
}
