package io.foliot.client;

/** When the client may repeat a call by itself. */
enum Repeat {
  /** Never: done twice it may do more than once. */
  NEVER,
  /**
   * Only if the server has certainly not acted: it could not be reached, or it refused at the door. Done twice the call
   * would do no more, but the second answer need not be true of the first: a cancel that is repeated finds its task
   * ended, by the cancel.
   */
  IF_NOT_DONE,
  /** Also if the outcome is unknown. */
  ALWAYS
}
