package io.foliot.client;

import io.foliot.api.TaskNote;
import java.util.concurrent.CompletableFuture;

/** A running attempt of a {@link Worker}, in the form that a handler uses. Safe for use by any thread. */
interface RunningAttempt {
  /** A handler of the tasks of a queue. It can extend the lease and store notes while it runs. */
  @FunctionalInterface
  interface Handler {
    /** As {@link TaskHandler#handle}. */
    Settlement handle(RunningAttempt attempt) throws Exception;
  }

  /** The current note of the work, which changes while the handler runs. */
  interface Notes {
    /** Returns the number of changes of the note so far. */
    long version();

    /** Returns the current note. */
    TaskNote note();
  }

  /** Returns the task that was claimed. */
  ClaimedTask task();

  /** Returns whether the lease has ended or its extension was refused. If so, another attempt may be running. */
  boolean isLost();

  /** Returns whether the worker is stopping. A stopping worker claims nothing, and waits for its handlers. */
  boolean isStopping();

  /** Sets the source of the note. A note that has changed is sent with the next extension of the lease. */
  void noteFrom(Notes source);

  /**
   * Extends the lease as soon as the previous extension has been answered, so that notes arrive in their order. The
   * extension contains the note that is current when it is sent.
   *
   * @return a future that completes when the note is stored, and fails as the future of {@link TaskSource#extend} does
   */
  CompletableFuture<Void> extendNow();
}
