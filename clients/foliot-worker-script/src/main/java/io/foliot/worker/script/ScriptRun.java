package io.foliot.worker.script;

import io.foliot.client.JobContext;
import io.foliot.client.JobResult;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One run of a script, on the thread of the handler. */
final class ScriptRun {
  private static final System.Logger LOGGER = System.getLogger("io.foliot.worker.script");

  /** Exit code of a temporary failure: {@code EX_TEMPFAIL} of {@code sysexits.h}. */
  private static final int TRY_AGAIN = 75;
  /**
   * Base of the exit codes that report a signal. If a signal ended a script, the code is 128 plus the signal's number.
   */
  private static final int SIGNALLED = 128;
  /** Longest wait for the end of the output after the script has ended. */
  private static final Duration END_WAIT = Duration.ofSeconds(5);

  private final JobContext job;
  private final Path script;
  private final Duration timeout;
  private final Duration termination;

  ScriptRun(JobContext job, Path script, Duration timeout, Duration termination) {
    this.job = job;
    this.script = script;
    this.timeout = timeout;
    this.termination = termination;
  }

  /**
   * Runs the script. When this method returns or throws, all processes of the script's group have been killed.
   *
   * @throws InterruptedException if the thread is interrupted; the processes have been killed
   */
  JobResult run() throws IOException, InterruptedException {
    Path home = Files.createTempDirectory("foliot-script-");
    try {
      // The input is a file instead of a pipe, because the script may read it late or not at all.
      Path input = Files.write(home.resolve("input.json"), ScriptInput.json(job));
      Path work = Files.createDirectory(home.resolve("work"));
      ProcessBuilder settings = new ProcessBuilder().directory(work.toFile()).redirectErrorStream(true);
      Map<String, String> environment = settings.environment();
      environment.clear();
      environment.putAll(ScriptInput.environment(job));
      ProcessGroup group;
      try {
        group = ProcessGroup.start(script, input, settings, ProcessGroup.hasGroups());
      } catch (IOException e) {
        return JobResult.giveUp("the script could not be started: " + e.getMessage());
      }
      return await(group);
    } finally {
      delete(home);
    }
  }

  private JobResult await(ProcessGroup group) throws InterruptedException {
    OutputTail output = new OutputTail(job::log);
    CountDownLatch killed = new CountDownLatch(1);
    Thread reader = Thread.ofPlatform().daemon().name("foliot-script-output")
        .start(() -> read(group, output, killed));
    boolean ended = false;
    try {
      ended = group.waitFor(timeout);
      if (!ended) {
        end(group);
      }
    } catch (InterruptedException e) {
      end(group);
      throw e;
    } finally {
      // Where there are process groups, this also kills the processes that the script has left running.
      group.kill();
      killed.countDown();
    }
    // The reader ends soon, even if a process that has left the group keeps the output open.
    boolean unused = reader.join(END_WAIT);
    return ended
        ? result(group.process().exitValue(), output)
        : failed(JobResult.failed("the script was killed: timeout=" + timeout), output);
  }

  /**
   * Sends SIGTERM to the processes, and waits at most the termination time for the script to end. An interrupt also
   * ends the wait.
   */
  private void end(ProcessGroup group) {
    group.terminate();
    try {
      boolean unused = group.waitFor(termination);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void read(ProcessGroup group, OutputTail output, CountDownLatch killed) {
    try (var stream = group.process().getInputStream()) {
      output.readAll(stream, nanos -> killed.await(nanos, TimeUnit.NANOSECONDS));
    } catch (IOException | InterruptedException e) {
      LOGGER.log(System.Logger.Level.WARNING,
          "cannot read all output of a script; its end is missing in the logs: script=" + script, e);
    }
  }

  private JobResult result(int exit, OutputTail output) {
    if (exit == 0) {
      return JobResult.done(output.lastLine());
    }
    String reason = "the script ended with exit code " + exit + ": " + output.lastLine();
    // After a signal a retry may succeed: perhaps the script ran out of memory, or an operator killed it.
    return failed(exit == TRY_AGAIN || exit > SIGNALLED ? JobResult.failed(reason) : JobResult.giveUp(reason), output);
  }

  private JobResult failed(JobResult result, OutputTail output) {
    LOGGER.log(System.Logger.Level.WARNING, "a script failed: script=" + script + ", job=" + job.job() + ", shard="
        + job.shard() + ", result=" + result + ", bytes=" + output.total() + ", output:\n" + output.tail());
    return result;
  }

  private static void delete(Path home) {
    try {
      Files.walkFileTree(home, new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
          Files.delete(file);
          return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) throws IOException {
          if (failure != null) {
            throw failure;
          }
          Files.delete(folder);
          return FileVisitResult.CONTINUE;
        }
      });
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.WARNING, "cannot delete the working folder of a script; it still takes up space:"
          + " folder=" + home, e);
    }
  }
}
