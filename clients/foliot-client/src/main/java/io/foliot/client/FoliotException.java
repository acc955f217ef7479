package io.foliot.client;

import java.time.Duration;
import java.util.Optional;

/**
 * The server refused a call and has not carried it out. The exception is a status of 500 or above: the server may have
 * failed after it began the work.
 */
public final class FoliotException extends RuntimeException {
  private final Problem problem;
  private final Optional<Duration> retryAfter;

  FoliotException(String call, Problem problem, Optional<Duration> retryAfter) {
    super(message(call, problem, retryAfter));
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  private static String message(String call, Problem problem, Optional<Duration> retryAfter) {
    return "the server refused " + call + ": status=" + problem.status() + ", type=" + problem.type() + ", title="
        + problem.title() + (problem.detail() == null ? "" : ", detail=" + problem.detail())
        + retryAfter.map(after -> ", retryAfter=" + after).orElse("");
  }

  /** Returns the server's reason. */
  public Problem problem() {
    return problem;
  }

  /** Returns the HTTP status. */
  public int status() {
    return problem.status();
  }

  /** Returns the stable name of the kind of problem, a URI. */
  public String type() {
    return problem.type();
  }

  /** Returns the wait that the server asks for before the next call, counted from its answer. */
  public Optional<Duration> retryAfter() {
    return retryAfter;
  }
}
