package io.foliot.client;

import java.util.concurrent.CompletableFuture;

/** An attempt under way, as the handler of a {@link Worker} sees it. Safe for use by any thread. */
interface RunningAttempt {
  /** The work of a queue, for handlers that talk to the server while they run. */
  @FunctionalInterface
  interface Handler {
    /** As {@link TaskHandler#handle}. */
    Settlement handle(RunningAttempt attempt) throws Exception;
  }

  /** Notes of the work, as they change while it is done. */
  interface Notes {
    /** Returns a number that grows with each change, from 0. */
    long version();

    /** Returns the note as it is now. */
    TaskNote note();
  }

  /** Returns the task that was claimed. */
  ClaimedTask task();

  /** Returns whether the lease has ended or the server has refused to extend it: another attempt may be running. */
  boolean isLost();

  /** Returns whether the worker stops: it claims no more, and waits for its handlers. */
  boolean isStopping();

  /** Sets where the notes come from that are sent with the extensions of the lease, when they have changed. */
  void noteFrom(Notes source);

  /**
   * Extends the lease now, with the note as it is when the extension is sent. Extensions are sent one after the other,
   * so that no note arrives after a newer one.
   *
   * @return completes when the server has stored the note; fails as {@link FoliotClient#extend(Lease,
   *         java.time.Duration)} does
   */
  CompletableFuture<Void> extendNow();
}
