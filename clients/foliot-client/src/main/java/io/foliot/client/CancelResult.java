package io.foliot.client;

/** The effect of a cancel. */
public enum CancelResult {
  /** No attempt of that generation begins any more. */
  CANCELLED,
  /** An earlier claim may still deliver; no new claim will be made. */
  CANCEL_PENDING,
  /** The task had ended; nothing changed. */
  ALREADY_FINISHED,
  /** There is no such task; nothing changed. */
  NOT_FOUND,
  /** A result that this client is too old to know. */
  UNRECOGNIZED;

  static CancelResult of(JsonObject json) {
    return Names.constant(values(), json.text("result"), UNRECOGNIZED);
  }
}
