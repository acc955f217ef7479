package io.foliot.cli;

/**
 * The result of a check.
 *
 * @param what the name of the checked thing
 * @param verdict whether a server can run with the checked thing as it is
 * @param seen the state that the check found
 * @param advice the remedy; empty if there is nothing to do
 */
record Finding(String what, Verdict verdict, String seen, String advice) {
  /** The severity of a finding. */
  enum Verdict {
    /** A server can run without changes. */
    OK,
    /** A server can run, but its operator should follow the advice. */
    WARN,
    /** A server cannot run. */
    FAIL
  }

  static Finding ok(String what, String seen) {
    return new Finding(what, Verdict.OK, seen, "");
  }

  static Finding warn(String what, String seen, String advice) {
    return new Finding(what, Verdict.WARN, seen, advice);
  }

  static Finding fail(String what, String seen, String advice) {
    return new Finding(what, Verdict.FAIL, seen, advice);
  }
}
