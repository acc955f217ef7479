package io.foliot.cli;

import io.foliot.client.QueueSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of a queue as options of a command. An option that takes a value is null if it is not given. */
final class QueueOptions {
  /**
   * The environment variable that holds the secret of {@code --sign}. The secret is not an argument, because all users
   * of a machine can see command lines.
   */
  static final String SECRET_VARIABLE = "FOLIOT_WEBHOOK_SECRET";

  @Option(names = "--timeout", paramLabel = "TIME", converter = DurationConverter.class, description = "how long a receiver may take; default: 10s")
  @Nullable
  Duration timeout;

  @Option(names = "--sign", description = "sign callbacks with the secret in the variable " + SECRET_VARIABLE)
  boolean sign;

  @Option(names = "--max-attempts", paramLabel = "N", description = "attempts until a task is a dead letter; default: 5")
  @Nullable
  Integer maxAttempts;

  @Option(names = "--backoff", paramLabel = "TIME", converter = DurationConverter.class, description = "wait after the first failure; default: 1s")
  @Nullable
  Duration backoff;

  @Option(names = "--multiplier", paramLabel = "X", description = "factor by which the wait grows with each failure; default: 2")
  @Nullable
  Double multiplier;

  @Option(names = "--max-backoff", paramLabel = "TIME", converter = DurationConverter.class, description = "the longest wait, before the jitter; default: 10m")
  @Nullable
  Duration maxBackoff;

  @Option(names = "--jitter", paramLabel = "X", description = "random share of the wait, from 0 to 1; default: 0.2")
  @Nullable
  Double jitter;

  @Option(names = "--priority", paramLabel = "N", description = "from -10 to 10; default: 0")
  @Nullable
  Integer priority;

  @Option(names = "--rate", paramLabel = "X", description = "maximum number of attempts that begin per second; default: no limit")
  @Nullable
  Double rate;

  @Option(names = "--concurrency", paramLabel = "N", description = "maximum number of concurrent attempts; default: no limit")
  @Nullable
  Integer concurrency;

  @Option(names = "--max-wait", paramLabel = "TIME", converter = DurationConverter.class, description = "how far resets may push a task beyond its first due time; default: no limit")
  @Nullable
  Duration maxWait;

  @Option(names = "--max-run", paramLabel = "TIME", converter = DurationConverter.class, description = "how long one attempt may run, however often its lease is extended; default: 1d")
  @Nullable
  Duration maxRun;

  @Option(names = "--max-jobs", paramLabel = "N", description = "maximum number of recurring jobs of the queue; default: 10000")
  @Nullable
  Integer maxJobs;

  @Option(names = "--max-shards", paramLabel = "N", description = "unfinished shards of the queue's jobs at which no further run begins; default: 100000")
  @Nullable
  Integer maxShards;

  @Option(names = "--keep-finished", paramLabel = "TIME", converter = DurationConverter.class, description = "how long finished tasks are kept; default: 1h")
  @Nullable
  Duration keepFinished;

  @Option(names = "--keep-failed", paramLabel = "TIME", converter = DurationConverter.class, description = "how long failed tasks are kept and can be redriven; default: 14d")
  @Nullable
  Duration keepFailed;

  /** Returns the retry settings; those that are not given are null. */
  QueueSettings.Retry retry() {
    return new QueueSettings.Retry(maxAttempts, backoff, multiplier, maxBackoff, jitter);
  }

  boolean hasRetry() {
    return maxAttempts != null || backoff != null || multiplier != null || maxBackoff != null || jitter != null;
  }

  boolean hasRetention() {
    return keepFinished != null || keepFailed != null;
  }

  /** Returns the retention; times that are not given are null. */
  QueueSettings.Retention retention() {
    return new QueueSettings.Retention(keepFinished, keepFailed);
  }

  /** Returns the secret of {@code --sign}; fails if the variable is not set. */
  static String secret(Shell shell) {
    String secret = shell.variable(SECRET_VARIABLE);
    if (secret.isEmpty()) {
      throw CommandException.usage("--sign reads the secret from the variable " + SECRET_VARIABLE
          + ", which is not set");
    }
    return secret;
  }
}
