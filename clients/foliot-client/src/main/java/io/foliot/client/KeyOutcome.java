package io.foliot.client;

/** The effect of a call on the task of a key. */
public enum KeyOutcome {
  /** There was no live task, now there is. */
  CREATED,
  /** The generation that was replaced cannot begin any more, the new one not before its due time. */
  RESET,
  /** An earlier claim may still deliver the generation that was replaced; the new one follows it. */
  RESET_PENDING,
  /** The key has a live task, which was kept as it is. */
  KEPT,
  /** The request was made before with its idempotency key; this is the first answer to it. */
  REPEATED,
  /** There is no live task under the key; nothing changed. */
  NOT_FOUND,
  /** A result that this client is too old to know. */
  UNRECOGNIZED;

  static KeyOutcome of(JsonObject json) {
    return Names.constant(values(), json.text("result"), UNRECOGNIZED);
  }
}
