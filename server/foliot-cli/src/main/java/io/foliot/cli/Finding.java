package io.foliot.cli;

/**
 * The result of a check.
 *
 * @param what the name of the checked thing
 * @param verdict whether a server can work with it
 * @param seen the state that the check found
 * @param advice the remedy; empty if there is nothing to do
 */
record Finding(String what, Verdict verdict, String seen, String advice) {
  /** The severity of a finding. */
  enum Verdict {
    /** A server can work with it. */
    OK,
    /** A server can work with it, but the advice is better. */
    WARN,
    /** A server cannot work with it. */
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
