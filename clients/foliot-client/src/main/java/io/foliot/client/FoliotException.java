package io.foliot.client;

import java.time.Duration;
import java.util.Optional;

/**
 * Thrown when the server refuses a call. A request that was refused with a status below 500 had no effect. A request
 * that was answered with a status of 500 or above may have had an effect. If the client has repeated the call, an
 * earlier request may also have had an effect.
 */
public final class FoliotException extends RuntimeException {
  private final RefusedTask problem;
  private final Optional<Duration> retryAfter;

  FoliotException(String call, RefusedTask problem, Optional<Duration> retryAfter) {
    super(message(call, problem, retryAfter));
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  private static String message(String call, RefusedTask problem, Optional<Duration> retryAfter) {
    return "the server refused " + call + ": status=" + problem.status() + ", type=" + problem.type() + ", title="
        + problem.title() + (problem.detail() == null ? "" : ", detail=" + problem.detail())
        + retryAfter.map(after -> ", retryAfter=" + after).orElse("");
  }

  /** Returns the server's reason. */
  public RefusedTask problem() {
    return problem;
  }

  /** Returns the HTTP status. */
  public int status() {
    return problem.status();
  }

  /** Returns the URI that names the kind of problem, such as {@code urn:foliot:problem:unknown-task}. */
  public String type() {
    return problem.type();
  }

  /** Returns the {@code Retry-After} of the answer: the minimum wait before the next call; empty if there is none. */
  public Optional<Duration> retryAfter() {
    return retryAfter;
  }
}
