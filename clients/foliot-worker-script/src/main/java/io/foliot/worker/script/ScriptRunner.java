package io.foliot.worker.script;

import io.foliot.client.JobContext;
import io.foliot.client.JobHandler;
import io.foliot.client.JobHandlers;
import io.foliot.client.JobResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts of one folder as the work of jobs, for {@code JobWorker.Builder.scripts}. A job chooses a script by the
 * field {@code script} of its parameter, such as {@code {"script": "backup.sh", "args": {"days": 7}}}; a job without
 * that field is not for this runner. No command and no path comes from the server. Safe for use by any thread.
 *
 * <p><b>Which files are scripts.</b> A name has letters, digits, {@code .}, {@code _} and {@code -}, begins with a
 * letter or digit, and has at most 128 characters. The file is a regular, executable file directly in the folder, or a
 * link to such a file. The file belongs to root or to the owner of the folder. Neither the file nor the folder is
 * writable by every user. These rules are checked before each run.
 *
 * <p><b>How scripts run.</b> A script is started directly, without a shell or arguments. The standard input is a JSON
 * object with {@code job}, {@code scheduledAt}, {@code shard}, {@code shards}, {@code shardParameter}, {@code missed},
 * {@code fence} ({@code generation}, {@code attempt}), {@code checkpoint} and {@code parameter}. The environment is
 * {@code PATH}, {@code LANG}, {@code FOLIOT_JOB}, {@code FOLIOT_SCHEDULED_AT}, {@code FOLIOT_SHARD},
 * {@code FOLIOT_SHARDS}, {@code FOLIOT_FENCE}, {@code FOLIOT_SHARD_PARAMETER} if the shard has a parameter, and
 * {@code FOLIOT_ZONE} if the worker has a zone. The script inherits no variable of this process. The working directory
 * is a new folder that is deleted afterwards.
 *
 * <p><b>How scripts end.</b> Exit code 0 is success, and the last non-blank line of the output is the text of the
 * result. Exit code 75 is a failure that is retried under the queue's retry policy, and so is a code above 128, which
 * reports a signal. Any other exit code is a final failure. Standard output and error go to the log of the shard, which
 * keeps the last 4,096 characters. If the script fails, the last 64 KiB of the output also go to the log of this
 * process.
 *
 * <p>All processes of the script's group get SIGTERM when the worker interrupts the handler, for example after the
 * lease was lost, or when the script exceeds its timeout. They get SIGKILL when the script has ended or the
 * {@linkplain Builder#termination time to terminate} is over. Where the system has {@code setsid} and {@code kill},
 * processes that a script leaves running are killed as well.
 */
public final class ScriptRunner implements JobHandlers {
  private final ScriptFolder folder;
  private final Duration timeout;
  private final Duration termination;

  private ScriptRunner(Builder builder) {
    folder = new ScriptFolder(builder.folder);
    timeout = builder.timeout;
    termination = builder.termination;
  }

  /**
   * Returns a runner of the scripts of a folder, with the default settings.
   *
   * @throws IllegalArgumentException if the path is not a folder, every user can write to it, or its file system has no
   *     POSIX permissions
   */
  public static ScriptRunner in(Path folder) {
    return builder(folder).build();
  }

  /** Returns a builder of a runner of the scripts of a folder. */
  public static Builder builder(Path folder) {
    return new Builder(folder);
  }

  /** Returns a handler if the parameter of the shard has the field {@code script}, else null. */
  @Override
  public @Nullable JobHandler find(JobContext job) {
    ScriptInput.Choice choice = ScriptInput.choice(job.parameter());
    if (choice == null) {
      return null;
    }
    String name = choice.text();
    return name == null
        ? unused -> JobResult.giveUp("script: expected a text such as \"backup.sh\" in the parameter of the job")
        : script(name);
  }

  /** Returns a handler that runs one script, regardless of the parameter of the job. */
  public JobHandler script(String name) {
    return job -> run(name, job);
  }

  private JobResult run(String name, JobContext job) throws IOException, InterruptedException {
    Path file;
    try {
      file = folder.find(name);
    } catch (ScriptRefusedException e) {
      String reason = String.valueOf(e.getMessage());
      return switch (e.kind()) {
        case NAME -> JobResult.giveUp(reason);
        case ABSENT -> JobResult.notHere(reason);
        case FILE -> JobResult.failed(reason);
      };
    }
    return new ScriptRun(job, file, timeout, termination).run();
  }

  @Override
  public String toString() {
    return "ScriptRunner[folder=" + folder + ", timeout=" + timeout + "]";
  }

  /** The settings of a runner. Not safe for use by several threads. */
  public static final class Builder {
    private final Path folder;
    private Duration timeout = Duration.ofHours(1);
    private Duration termination = Duration.ofSeconds(5);

    private Builder(Path folder) {
      this.folder = folder;
    }

    /** Sets how long a script may take; one hour by default. The job's own timeout applies as well. */
    public Builder timeout(Duration longest) {
      timeout = positive("timeout", longest);
      return this;
    }

    /** Sets the longest time between SIGTERM and SIGKILL for a script that is stopped; five seconds by default. */
    public Builder termination(Duration longest) {
      termination = positive("termination", longest);
      return this;
    }

    private static Duration positive(String name, Duration duration) {
      if (!duration.isPositive()) {
        throw new IllegalArgumentException(name + " must be positive: " + name + "=" + duration);
      }
      return duration;
    }

    /**
     * Returns a runner with these settings.
     *
     * @throws IllegalArgumentException if the path is not a folder, every user can write to it, or its file system has
     *     no POSIX permissions
     */
    public ScriptRunner build() {
      return new ScriptRunner(this);
    }
  }
}
