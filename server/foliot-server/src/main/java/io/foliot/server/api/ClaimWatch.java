package io.foliot.server.api;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Watches the caller of a claim that waits: its connection and its API key. If one of them ends, the claim must end
 * too, so that no task goes to a caller that cannot or may not take it.
 */
final class ClaimWatch implements Runnable, AutoCloseable {
  private final Request request;
  private final CompletableFuture<Void> gone = new CompletableFuture<>();

  // guarded by this
  private boolean isWatched;
  private boolean isClosed;

  ClaimWatch(Request request) {
    this.request = request;
  }

  /** Returns a stage that completes when the caller has gone away or its key does not hold any more. */
  CompletionStage<Void> gone() {
    return gone;
  }

  /** Checks the caller; called from time to time while the claim waits. Does not block. */
  @Override
  public synchronized void run() {
    if (isClosed) {
      return;
    }
    if (!isWatched) {
      isWatched = true;
      request.whenClosed(() -> gone.complete(null));
    }
    if (!request.isCallerKnown()) {
      gone.complete(null);
    }
  }

  /** Records that the route does not wait any more. */
  void leave() {
    gone.complete(null);
  }

  /** Throws a problem if the caller's key was removed or has expired since the request came, or the caller has gone. */
  void ensureThere() {
    if (!request.isCallerKnown()) {
      throw new Problem(ProblemKind.UNAUTHORIZED, "the key was removed or has expired while the claim waited; ask the"
          + " server's administrator").withHeader("WWW-Authenticate", "Bearer");
    }
    if (gone.isDone()) {
      throw new Problem(ProblemKind.REQUEST_TIMEOUT, "the client has ended its output while the claim waited");
    }
  }

  /** Ends the checks. No check runs when this method returns. */
  @Override
  public synchronized void close() {
    isClosed = true;
    if (isWatched) {
      request.unwatch();
    }
  }
}
