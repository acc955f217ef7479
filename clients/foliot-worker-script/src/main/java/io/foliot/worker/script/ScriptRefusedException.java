package io.foliot.worker.script;

/** A script that is not run, by a rule of {@link ScriptFolder}. */
final class ScriptRefusedException extends Exception {
  /** The consequence of a refusal. */
  enum Kind {
    /** The name can never be one of a script. */
    NAME,
    /** This worker has no such script; another one may. */
    ABSENT,
    /** The file is there, and this worker does not run it as it is. */
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
