package io.foliot.server.api;

import java.util.Locale;

/** The kinds of problems of a call, each with an HTTP status, a title, and a {@code type} that never changes. */
public enum ProblemKind {
  /** The body is not JSON, or is JSON beyond the limits. */
  MALFORMED_JSON(400, "The body is not readable as JSON"),
  /** A field has a value of the wrong type or outside of its range. */
  INVALID_FIELD(400, "A field has an invalid value"),
  /** A field that the call does not have. */
  UNKNOWN_FIELD(400, "The body has a field that this call does not have"),
  /** Two fields that exclude each other. */
  CONFLICTING_FIELDS(400, "Two fields of the body exclude each other"),
  /** A field that the call needs is not there. */
  MISSING_FIELD(400, "The body lacks a field"),
  /** A query parameter that the call does not have, or cannot have with that value. */
  INVALID_PARAMETER(400, "A query parameter cannot be used like this"),
  /** The delay is negative, or the due time is too far away. */
  DELAY_OUT_OF_RANGE(400, "The due time is out of range"),
  /** The request can never work. */
  INVALID_REQUEST(400, "The request cannot work"),
  /** The call has no API key, or an invalid one. */
  UNAUTHORIZED(401, "An API key is needed"),
  /** The API key does not allow the call. */
  FORBIDDEN(403, "The API key does not allow this"),
  /** The server is open to this machine only. The request comes from a page of another site, or names another host. */
  FOREIGN_HOST(403, "The server is open to this machine only"),
  /** The queue does not exist. */
  UNKNOWN_QUEUE(404, "There is no such queue"),
  /** The task does not exist, or is no longer kept. */
  UNKNOWN_TASK(404, "There is no such task"),
  /** The job does not exist. */
  UNKNOWN_JOB(404, "There is no such job"),
  /** The job has no run of that time. */
  UNKNOWN_RUN(404, "There is no such run"),
  /** The calendar does not exist. */
  UNKNOWN_CALENDAR(404, "There is no such calendar"),
  /** No live worker has this name. */
  UNKNOWN_WORKER(404, "There is no such worker"),
  /** The API key does not exist. */
  UNKNOWN_KEY(404, "There is no such API key"),
  /** No route has this path. */
  UNKNOWN_ROUTE(404, "There is nothing under this path"),
  /** The path has routes, but none with this method. */
  METHOD_NOT_ALLOWED(405, "The path does not have this method"),
  /** The body did not arrive in time; nothing was done. */
  REQUEST_TIMEOUT(408, "The request took too long to arrive"),
  /** The key has a live task. */
  KEY_IN_USE(409, "The key has a live task"),
  /** The claim is not valid any more. */
  STALE_TOKEN(409, "The lease token is not valid any more"),
  /** The attempt was cancelled. */
  CANCELLED(409, "The task was cancelled"),
  /** The task is final. */
  ALREADY_FINISHED(409, "The task is final"),
  /** The task has not failed. */
  NOT_FAILED(409, "The task has not failed"),
  /** The queue has live tasks. */
  QUEUE_IN_USE(409, "The queue has live tasks"),
  /** An ended run cannot continue beside the active run of its job. */
  RUN_ACTIVE(409, "Another run of the job is active"),
  /** A job of this name exists in another queue. */
  JOB_NAME_IN_USE(409, "A job of this name exists in another queue"),
  /** The change would leave no API key that can administer the server. */
  LAST_KEY(409, "No key could administer the server any more"),
  /** The server is not configured for this call. */
  NOT_CONFIGURED(409, "The server is not set up for this"),
  /** The body, or one item of it, is too large. */
  TOO_LARGE(413, "The request is too large"),
  /** The body is not of a type that the call reads. */
  UNSUPPORTED_MEDIA_TYPE(415, "The call does not read this type of body"),
  /** The idempotency key belongs to another request. */
  IDEMPOTENCY_MISMATCH(422, "The idempotency key was used for another request"),
  /** The number of jobs is at its limit. */
  TOO_MANY_JOBS(429, "The number of jobs is at its limit"),
  /** The API key has its share of the workers that a server can know. */
  TOO_MANY_WORKERS(429, "The number of workers is at its limit"),
  /** A bug. */
  INTERNAL(500, "An internal error occurred"),
  /** Too many requests or tasks wait already; nothing was done. */
  OVERLOADED(503, "The server is overloaded"),
  /** The server is stopping or has not started, or its store is sealed; nothing was done. */
  NOT_READY(503, "The server is not ready"),
  /** The store cannot be reached, or failed during a read or a backup; no task was changed. */
  STORE_UNAVAILABLE(503, "The store does not answer"),
  /** It is unknown whether the call took effect. */
  UNKNOWN_OUTCOME(504, "It is unknown whether the call took effect"),
  /** The store has no room for what the call writes; nothing was written. */
  STORE_FULL(507, "The store has no room");

  private final int status;
  private final String title;
  private final String type;

  ProblemKind(int status, String title) {
    this.status = status;
    this.title = title;
    type = "urn:foliot:problem:" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the title, a sentence that is the same for all problems of this kind. */
  public String title() {
    return title;
  }

  /** Returns the URN by which programs distinguish problems. */
  public String type() {
    return type;
  }
}
