package io.foliot.client;

/** The effect of a call on the task of a key. */
public enum KeyOutcome {
  /** There was no live task, and a new one was created. */
  CREATED,
  /** The live task has a new generation; no attempt of the replaced generation can begin. */
  RESET,
  /** As {@link #RESET}, but an attempt of the replaced generation is running and may still end; the new one follows. */
  RESET_PENDING,
  /** The key has a live task, which was not changed. */
  KEPT,
  /** The request was made before with the same idempotency key; this is the answer to the first one. */
  REPEATED,
  /** The key has no live task; nothing changed. */
  NOT_FOUND,
  /** A result that this client is too old to know. */
  UNRECOGNIZED;

  static KeyOutcome of(JsonObject json) {
    return Names.constant(values(), json.text("result"), UNRECOGNIZED);
  }
}
