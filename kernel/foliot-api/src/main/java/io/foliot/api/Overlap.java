package io.foliot.api;

/** The rule for a scheduled time that comes while a run of the job is active, or waits for workers or an allocator. */
public enum Overlap {
  /** The time is skipped, and recorded as skipped. */
  SKIP,
  /** One time waits until the run has ended; further times are skipped. */
  QUEUE,
  /** The active run is stopped. When it has ended, the newest time begins. */
  REPLACE,
  /** The runs overlap: up to 16 are active at the same time, or 4 if the job has more than 1,000 shards. */
  ALLOW
}
