package io.foliot.worker.script;

/** Thrown if a rule of {@link ScriptFolder} forbids running a script. */
final class ScriptRefusedException extends Exception {
  /** The reason for a refusal. */
  enum Kind {
    /** No script can have this name. */
    NAME,
    /** This worker has no such script; another worker may have it. */
    ABSENT,
    /** The file exists, but its type, its owner or its permissions forbid running it. */
    FILE
  }

  private final Kind kind;

  ScriptRefusedException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  Kind kind() {
    return kind;
  }
}
