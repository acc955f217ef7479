package io.foliot.jobs;

/** The rule for a scheduled time that comes while a run of the job is active. */
public enum Overlap {
  /** The time is skipped, and recorded as skipped. */
  SKIP(1),
  /** One time waits until the run has ended; further times are skipped. */
  QUEUE(2),
  /** The active run is stopped, and the newest time begins once its shards have ended. */
  REPLACE(3),
  /** Both runs are active, up to 16 at once, or 4 if the job has more than 1,000 shards. */
  ALLOW(4);

  private final int code;

  Overlap(int code) {
    this.code = code;
  }

  /** Returns the number of this rule in stored records. */
  int code() {
    return code;
  }
}
