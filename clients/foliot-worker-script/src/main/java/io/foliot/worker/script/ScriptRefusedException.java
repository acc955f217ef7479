package io.foliot.worker.script;

/** Thrown if the folder has no such script, or if a rule of {@link ScriptFolder} forbids running the script. */
final class ScriptRefusedException extends Exception {
  /** The reason for a refusal. */
  enum Kind {
    /** No script can have this name. */
    NAME,
    /** This worker has no such script; another worker may have it. */
    ABSENT,
    /** A property of the file or of the folder forbids running the script. */
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
