package io.foliot.client;

/** The condition under which the client may repeat a call. */
enum Repeat {
  /** Never: a repeat could have a second effect. */
  NEVER,
  /**
   * Only if the server has certainly done nothing: it could not be reached, or it refused the request before any work.
   * After an unknown outcome, a repeat could have a second effect, or an answer that differs from the first answer. For
   * example, a repeated cancel returns that the task had ended already, because of the first cancel.
   */
  IF_NOT_DONE,
  /** Always, even if the outcome is unknown. */
  ALWAYS
}
