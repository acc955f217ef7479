package io.foliot.client;

import io.foliot.api.Cancellation;

/** The condition under which the client may repeat a call. */
enum Repeat {
  /** The client never repeats the call, because a repeat could have a second effect. */
  NEVER,
  /**
   * The client repeats the call only if the server has certainly done nothing: the server could not be reached, or
   * refused the request before any work. Otherwise a repeat could have a second effect or another result. For example,
   * a second cancel of a task may return {@link Cancellation#ALREADY_FINISHED}.
   */
  IF_NOT_DONE,
  /** The client repeats the call even if the outcome is unknown. */
  ALWAYS
}
