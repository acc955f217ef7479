package io.foliot.wheel;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs jcstress on each handshake. By default the run is short and has one mode of compilation. To start a longer run:
 *
 * <pre>mvn -Plong -pl :foliot-stress -am test -Dtest=HandshakesTest -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Djcstress.minutes=240 "-Djcstress.args=-m default -jvmArgsPrepend -ea"</pre>
 *
 * <p>With {@code -t} and a regular expression among the arguments, only matching tests run. The output of jcstress and
 * its HTML report are below {@code target/jcstress}.
 */
@Tag("long")
final class HandshakesTest {
  /** Maven's build folder; tests run in the directory of the module. */
  private static final Path TARGET = Path.of("target").toAbsolutePath();

  private static final String QUICK = "-m sanity -time 400 -strideSize 16 -strideCount 16 -sc false -af NONE -jvmArgs -ea";

  /** Arguments for the planted bug. The run is long enough to find it on a busy machine, too. */
  private static final String CANARY = "-f 1 -fsm 1 -iters 3 -time 500 -sc false -af NONE -jvmArgs -ea";

  /**
   * Longest run, in minutes; a longer run is treated as hung. The short run takes a minute on two processors, and some
   * minutes while other tests run.
   */
  private static final long RUN_MINUTES_MAX = Long.getLong("jcstress.minutes", 15);

  /** The counts of results that jcstress prints repeatedly, and at the end. */
  private static final Pattern RUN_TESTS = Pattern.compile("\\(Results: (\\d+) planned; (\\d+) passed, (\\d+) failed, "
      + "(\\d+) soft errs, (\\d+) hard errs\\)");

  /** Result of jcstress: exit code, output, and latest counts; failed and errors are -1 if it has printed no counts. */
  private record Run(int exitCode, String output, int planned, int passed, int failed, int errors) {}

  @Test
  void everyHandshakeHolds() throws Exception {
    Run run = run("handshakes", System.getProperty("jcstress.args", QUICK), false);
    assertThat(run.failed).as(run.output).isZero();
    assertThat(run.errors).as(run.output).isZero();
    assertThat(run.passed).as(run.output).isEqualTo(run.planned).isPositive();
    assertThat(run.exitCode).as(run.output).isZero();
  }

  @Test
  void aPlantedBugIsFound() throws Exception {
    Run run = run("canary", CANARY, true);
    assertThat(run.failed).as(run.output).isPositive();
    assertThat(run.exitCode).as(run.output).isNotZero();
  }

  private static Run run(String name, String arguments, boolean canary) throws IOException, InterruptedException {
    Path directory = Files.createDirectories(TARGET.resolve("jcstress").resolve(name));
    Path log = directory.resolve("output.txt");
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(List.of("-cp", classPath(canary), "org.openjdk.jcstress.Main"));
    command.addAll(List.of("-r", directory.resolve("report").toString()));
    command.addAll(List.of(arguments.split(" ")));
    Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
        .redirectOutput(Redirect.to(log.toFile())).start();
    if (!process.waitFor(RUN_MINUTES_MAX, TimeUnit.MINUTES)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return parse(process.waitFor(), Files.readString(log));
  }

  private static Run parse(int exitCode, String output) {
    Run last = new Run(exitCode, output, 0, 0, -1, -1);
    for (Matcher results = RUN_TESTS.matcher(output); results.find();) {
      int[] counts = new int[5];
      for (int i = 0; i < counts.length; i++) {
        counts[i] = Integer.parseInt(results.group(i + 1));
      }
      last = new Run(exitCode, output, counts[0], counts[1], counts[2], counts[3] + counts[4]);
    }
    return last;
  }

  /**
   * Returns the class path, with the test classes only if {@code canary}. jcstress runs the first list of tests on the
   * class path. The list in the test classes, which come first, names only the planted bug.
   */
  private static String classPath(boolean canary) {
    String own = TARGET.resolve("test-classes").toString();
    String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Stream.of(all.split(File.pathSeparator)).filter(entry -> canary || !entry.equals(own))
        .collect(joining(File.pathSeparator));
  }
}
