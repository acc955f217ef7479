package io.foliot.cli;

/**
 * The result of a check.
 *
 * @param what the checked thing, in a word
 * @param verdict whether that will do
 * @param seen the figures
 * @param advice the remedy; empty if there is nothing to do
 */
record Finding(String what, Verdict verdict, String seen, String advice) {
  /** The severity of a finding. */
  enum Verdict {
    /** Yes. */
    OK,
    /** Yes, with a disadvantage. */
    WARN,
    /** No. */
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
