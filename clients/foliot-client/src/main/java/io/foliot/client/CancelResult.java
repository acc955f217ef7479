package io.foliot.client;

/** The effect of a cancel. */
public enum CancelResult {
  /** No attempt is running, and none will begin. */
  CANCELLED,
  /** An attempt may still be running, and may still succeed; no other attempt will begin. */
  CANCEL_PENDING,
  /** The task had ended already; nothing changed. */
  ALREADY_FINISHED,
  /** There is no such task; nothing changed. */
  NOT_FOUND,
  /** A result of a newer server, which this client does not recognize. */
  UNRECOGNIZED;

  static CancelResult of(JsonObject json) {
    return Names.constant(values(), json.text("result"), UNRECOGNIZED);
  }
}
