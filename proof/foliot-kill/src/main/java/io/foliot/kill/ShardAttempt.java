package io.foliot.kill;

import io.foliot.client.Fence;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a shard, as its worker has logged it. Times are microseconds since 1970 by the clock of this machine.
 *
 * @param worker the name of the worker's process, which no other process has
 * @param workerZone the zone of that process
 * @param shard the shard
 * @param fence the fence of the attempt
 * @param begunMicros a time just before the work began
 * @param writesMicros the times of the handler's simulated writes to a sink
 * @param heldMicros when the worker sent the latest extension that the server confirmed, or 0 if none was confirmed
 * @param target for a run with scope ALL, the worker that the server names as the target of the shard; null if the
 *     target was not read
 * @param end the end of the handler, or null if the process ended before the handler
 */
record ShardAttempt(String worker, String workerZone, Shard shard, Fence fence, long begunMicros,
    List<Long> writesMicros, long heldMicros, @Nullable String target, @Nullable End end) {
  ShardAttempt {
    writesMicros = List.copyOf(writesMicros);
  }

  /**
   * One shard of one run.
   *
   * @param zone the zone of the shard, or an empty text if the shard has no zone
   * @param number the number of the shard, within its zone
   */
  record Shard(String job, long scheduledMillis, String zone, int number) {
    /** Returns a name that this shard shares with the same shard of other runs. Fences grow over these runs. */
    String line() {
      return job + "/" + zone + "/" + number;
    }
  }

  /** The ways in which a handler ends. */
  enum Outcome {
    /** The handler reports success. */
    DONE,
    /** The handler gives the shard back. */
    GIVEN_BACK
  }

  /**
   * The end of a handler, as its worker has logged it.
   *
   * @param atMicros a time just before the handler examined its lease, and after the interrupt if there was one
   * @param isLost whether the worker had noticed that the lease was lost
   * @param isInterrupted whether the handler was interrupted
   */
  record End(long atMicros, Outcome outcome, boolean isLost, boolean isInterrupted) {}

  /** Returns the text of the result that the handler reports. */
  String result() {
    return result(worker, fence);
  }

  /** Returns the text of the result of an attempt. */
  static String result(String worker, Fence fence) {
    return worker + " with " + fence;
  }

  ShardAttempt begun(long micros) {
    return new ShardAttempt(worker, workerZone, shard, fence, micros, writesMicros, heldMicros, target, end);
  }

  ShardAttempt ended(End newEnd) {
    return new ShardAttempt(worker, workerZone, shard, fence, begunMicros, writesMicros, heldMicros, target, newEnd);
  }

  ShardAttempt by(String otherWorker, String otherZone) {
    return new ShardAttempt(otherWorker, otherZone, shard, fence, begunMicros, writesMicros, heldMicros, target, end);
  }

  ShardAttempt under(Fence other) {
    return new ShardAttempt(worker, workerZone, shard, other, begunMicros, writesMicros, heldMicros, target, end);
  }
}
