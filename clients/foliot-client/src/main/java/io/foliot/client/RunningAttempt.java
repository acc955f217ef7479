package io.foliot.client;

import java.util.concurrent.CompletableFuture;

/** An attempt under way, as the handler of a {@link Worker} sees it. Safe for use by any thread. */
interface RunningAttempt {
  /** A handler of the tasks of a queue, which may extend the lease and store notes while it runs. */
  @FunctionalInterface
  interface Handler {
    /** As {@link TaskHandler#handle}. */
    Settlement handle(RunningAttempt attempt) throws Exception;
  }

  /** The current note of the work, which changes while the handler runs. */
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

  /** Sets the source of the note, which is sent with an extension of the lease if it has changed. */
  void noteFrom(Notes source);

  /**
   * Extends the lease now, with the note as it is when the extension is sent. Extensions are sent one after the other,
   * so that no note arrives after a newer one.
   *
   * @return a future that completes when the server has stored the note, and fails as {@link TaskSource#extend} does
   */
  CompletableFuture<Void> extendNow();
}
