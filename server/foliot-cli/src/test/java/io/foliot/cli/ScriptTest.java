package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the script at the root of the repository with fake JDKs and a fake Maven. A fake JDK prints its arguments and
 * exits with 7; a fake Maven creates the jars.
 */
final class ScriptTest {
  private static final Path SCRIPT = Path.of(Files.exists(Path.of("ARCHITECTURE.md")) ? "foliot" : "../../foliot")
      .toAbsolutePath().normalize();
  private static final List<String> TOOLS = List.of("sh", "cat", "cp", "dirname", "find", "grep", "head", "ln", "mkdir",
      "mv", "readlink", "rm", "sed", "sleep", "sort", "tail", "touch");
  private static final String MAVEN = """
      #!/bin/sh
      echo "$JAVA_HOME" >>"$MAVEN_CALLS"
      echo "$@" >>"$MAVEN_CALLS.arguments"
      [ -z "${MAVEN_BREAKS:-}" ] || { echo '[ERROR] it is broken'; exit 1; }
      mkdir -p server/foliot-cli/target/lib
      echo jar >server/foliot-cli/target/foliot.jar
      echo jar >server/foliot-cli/target/lib/foliot-core.jar
      """;
  @TempDir
  private Path folder = Path.of("");

  // The path of the root contains a space.
  private Path root = Path.of("");
  private Path tools = Path.of("");
  private Path jdks = Path.of("");
  private Path calls = Path.of("");

  private record Run(int exitCode, String output) {}

  @BeforeEach
  void createLayout() throws IOException {
    root = Files.createDirectories(folder.resolve("my work/foliot"));
    tools = Files.createDirectories(folder.resolve("tools"));
    jdks = Files.createDirectories(folder.resolve("jdks"));
    calls = folder.resolve("calls");
    Files.copy(SCRIPT, root.resolve("foliot"));
    executable(root.resolve("foliot"));
    Files.writeString(root.resolve("pom.xml"), "");
    Files.createDirectories(root.resolve("kernel/foliot-core/src/main"));
    for (String tool : TOOLS) {
      Files.createSymbolicLink(tools.resolve(tool), onThePath(tool));
    }
    script(tools.resolve("mvn"), MAVEN);
  }

  private static Path onThePath(String tool) {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator)).map(Path::of).map(it -> it.resolve(tool))
        .filter(Files::isExecutable).findFirst().orElseThrow();
  }

  private static void executable(Path file) {
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private static void script(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    executable(file);
  }

  private Path jdk(String name, String version) throws IOException {
    Path home = jdks.resolve(name);
    script(home.resolve("bin/java"), """
        #!/bin/sh
        for word in "$@"; do
          case $word in
            -XX:ArchiveClassesAtExit=* | -XX:AOTCacheOutput=*)
              [ -n "${CACHE_BREAKS:-}" ] || echo cache >"${word#*=}"
              echo 'Foliot is ready'
              exit 0
              ;;
          esac
        done
        case "${CACHE_CRASHES:-}$*" in yes*AOTCache=*--version) kill -ABRT $$ ;; esac
        echo "%s"; for word in "$@"; do echo "<$word>"; done; exit 7
        """.formatted(name));
    script(home.resolve("bin/javac"), "");
    Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
    return home;
  }

  private Run run(Map<String, String> environment, String... words) throws IOException, InterruptedException {
    return run(root.resolve("foliot"), environment, words);
  }

  private Run run(Path script, Map<String, String> environment, String... words)
      throws IOException, InterruptedException {
    Process process = start(script, environment, words);
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return new Run(process.exitValue(), output);
  }

  private Process start(Path script, Map<String, String> environment, String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(script.toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PATH", tools.toString());
    variables.put("HOME", folder.toString());
    variables.put("FOLIOT_JDK_PATH", jdks.toString());
    variables.put("MAVEN_CALLS", calls.toString());
    variables.putAll(environment);
    builder.environment().clear();
    builder.environment().putAll(variables);
    return builder.start();
  }

  private long builds() throws IOException {
    return Files.exists(calls) ? Files.readAllLines(calls).size() : 0;
  }

  @Test
  void theScriptPrefersJdk25AndThenTheNewest() throws Exception {
    Path old = jdk("jdk-17", "17.0.15");
    jdk("jdk-8", "1.8.0_402");
    jdk("jdk-21", "21.0.2");
    assertThat(run(Map.of("JAVA_HOME", old.toString()), "x").output()).contains("jdk-21\n");
    jdk("jdk-26", "26-ea");
    jdk("jdk-24", "24");
    assertThat(run(Map.of("JAVA_HOME", old.toString()), "x").output()).contains("jdk-26\n");
    Path best = jdk("jdk-25", "25.0.3");
    assertThat(run(Map.of("JAVA_HOME", old.toString()), "x").output()).contains("jdk-25\n");
    Path chosen = jdk("other-21", "21");
    assertThat(run(Map.of("FOLIOT_JAVA_HOME", chosen.toString()), "x").output()).contains("other-21\n");
    assertThat(run(Map.of("FOLIOT_JAVA_HOME", old.toString()), "x").exitCode()).isEqualTo(1);
    Files.createSymbolicLink(tools.resolve("java"), best.resolve("bin/java"));
    assertThat(run(Map.of("FOLIOT_JDK_PATH", folder.resolve("none").toString()), "x").output()).contains("jdk-25\n");
  }

  @Test
  void aMissingJdkIsReportedWithWhatToInstall() throws Exception {
    Path old = jdk("jdk-17", "17.0.15");
    Path runtime = jdk("jre-25", "25");
    Files.delete(runtime.resolve("bin/javac"));
    Run run = run(Map.of(), "server");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.output()).contains("needs a JDK 21 or newer", old + " is JDK 17", runtime.toString(), "apt install",
        "dnf install", "brew install", "adoptium");
    assertThat(builds()).isZero();
  }

  @Test
  void aMissingMavenIsReportedWithWhatToInstall() throws Exception {
    jdk("jdk-25", "25");
    Files.delete(tools.resolve("mvn"));
    Run run = run(Map.of(), "server");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.output()).contains("needs Maven", "apt install maven");
  }

  @Test
  void theScriptBuildsAgainOnlyIfASourceIsNewer() throws Exception {
    Path home = jdk("jdk-25", "25");
    Path source = root.resolve("kernel/foliot-core/src/main/A.java");
    Files.writeString(source, "");
    assertThat(run(Map.of(), "x").output()).contains("building (once");
    assertThat(run(Map.of(), "x").output()).doesNotContain("building");
    assertThat(Files.readAllLines(calls)).containsExactly(home.toString());
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(5)));
    assertThat(run(Map.of(), "x").output()).contains("building (a source is newer)");
    assertThat(builds()).isEqualTo(2);
  }

  @Test
  void aFailedBuildShowsItsErrorsAndLogAndIsTriedAgain() throws Exception {
    jdk("jdk-25", "25");
    Run broken = run(Map.of("MAVEN_BREAKS", "yes"), "x");
    assertThat(broken.exitCode()).isEqualTo(1);
    assertThat(broken.output()).contains("[ERROR] it is broken",
        root.resolve("server/foliot-cli/target/foliot-build.log").toString());
    assertThat(run(Map.of(), "x").exitCode()).isEqualTo(7);
  }

  @Test
  void concurrentRunsBuildOnceAndTakeOverADeadBuildersLock() throws Exception {
    // No process has this id: it is above the maximum of Linux, which is 4194304.
    Files.writeString(lock().resolve("pid"), "99999999\n");
    ensureConcurrentRunsBuildOnce();
  }

  @Test
  void concurrentRunsTakeOverALockWithoutAHolder() throws Exception {
    lock();
    ensureConcurrentRunsBuildOnce();
  }

  private Path lock() throws IOException {
    return Files.createDirectories(root.resolve("server/foliot-cli/target/foliot-lock"));
  }

  private void ensureConcurrentRunsBuildOnce() throws Exception {
    jdk("jdk-25", "25");
    List<Process> both = List.of(start(root.resolve("foliot"), Map.of(), "x"),
        start(root.resolve("foliot"), Map.of(), "x"));
    for (Process process : both) {
      assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).contains("<x>");
      assertThat(process.waitFor()).isEqualTo(7);
    }
    assertThat(builds()).isEqualTo(1);
    assertThat(root.resolve("server/foliot-cli/target/foliot-lock")).doesNotExist();
  }

  @Test
  void argumentsAndExitCodesPassThroughLinksToTheScript() throws Exception {
    jdk("jdk-25", "25");
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("my work/foliot/foliot"));
    Path linked = Files.createSymbolicLink(folder.resolve("to the link"), link);
    Run run = run(linked, Map.of("FOLIOT_JAVA_OPTS", "-Xmx3g -Da=b"), "submit", "a b", "", "*", "--payload",
        "{\"x\": 1}");
    assertThat(run.exitCode()).isEqualTo(7);
    assertThat(run.output()).endsWith("<-Xmx3g>\n<-Da=b>\n<-jar>\n<" + root.toRealPath()
        + "/server/foliot-cli/target/app/foliot.jar>\n<submit>\n<a b>\n<>\n<*>\n<--payload>\n<{\"x\": 1}>\n");
  }

  @Test
  void eachJdkGetsOnlyOptionsThatItSupports() throws Exception {
    jdk("jdk-21", "21.0.2");
    String on21 = run(Map.of(), "server").output();
    assertThat(on21).contains("<-Xmx1g>", "<-XX:+UseG1GC>").doesNotContain("UseCompactObjectHeaders",
        "sun-misc-unsafe");
    assertThat(run(Map.of("FOLIOT_JAVA_OPTS", "-XX:+UseParallelGC"), "server").output())
        .contains("<-XX:+UseParallelGC>").doesNotContain("G1");
    jdk("jdk-25", "25.0.1");
    // C2 of JDK 25 copies arrays wrongly with compact headers (JDK-8380060).
    assertThat(run(Map.of(), "server").output()).contains("<--sun-misc-unsafe-memory-access=allow>")
        .doesNotContain("UseCompactObjectHeaders");
  }

  @Test
  void sinceJdk25TheCacheIsAnAotCacheOfTheExactBuild() throws Exception {
    jdk("jdk-21", "21.0.2");
    assertThat(run(Map.of(), "server").output()).containsPattern("<-XX:SharedArchiveFile=.*/server-21\\.0\\.2\\.jsa>");
    assertThat(run(Map.of(), "queues").output()).containsPattern("<-XX:SharedArchiveFile=.*/command-21\\.0\\.2\\.jsa>");
    Path home = jdk("jdk-25", "25.0.3");
    assertThat(run(Map.of(), "server").output()).containsPattern("<-XX:AOTCache=.*/server-25\\.0\\.3\\.aot>")
        .doesNotContain("SharedArchiveFile");
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"25.0.3\"\nJAVA_RUNTIME_VERSION=\"25.0.3+9-LTS\"\n");
    assertThat(run(Map.of(), "server").output()).containsPattern("<-XX:AOTCache=.*/server-25\\.0\\.3\\+9-LTS\\.aot>");
    assertThat(builds()).as("a new JDK needs a new cache, but no new build").isEqualTo(1);
  }

  @Test
  void aNewSourceInvalidatesTheCache() throws Exception {
    jdk("jdk-25", "25.0.3");
    run(Map.of(), "x");
    Path cache = root.resolve("server/foliot-cli/target/app/command-25.0.3.aot");
    assertThat(cache).hasContent("cache");
    Files.writeString(cache, "old");
    Path source = Files.writeString(root.resolve("kernel/foliot-core/src/main/A.java"), "");
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(5)));
    run(Map.of(), "x");
    assertThat(cache).hasContent("cache");
  }

  @Test
  void aCacheThatCannotBeCreatedIsReportedOnce() throws Exception {
    jdk("jdk-25", "25.0.3");
    Run first = run(Map.of("CACHE_BREAKS", "yes"), "server");
    assertThat(first.exitCode()).isEqualTo(7);
    assertThat(first.output()).containsOnlyOnce("could not prepare a faster start").contains("<server>")
        .doesNotContain("AOTCache=");
    assertThat(run(Map.of("CACHE_BREAKS", "yes"), "server").output()).doesNotContain("could not prepare")
        .contains("<server>");
  }

  @Test
  void aCacheThatEndsTheJvmIsNotUsed() throws Exception {
    jdk("jdk-25", "25.0.3");
    Run first = run(Map.of("CACHE_CRASHES", "yes"), "server");
    assertThat(first.output()).contains("could not prepare a faster start").doesNotContain("-XX:AOTCache=");
    assertThat(first.exitCode()).isEqualTo(7);
    assertThat(run(Map.of(), "queues").output()).doesNotContain("-XX:AOTCache=");
  }

  /** Checks that Maven gets a list of modules instead of -am, which would add modules that only tests need. */
  @Test
  void theScriptBuildsExactlyTheModulesOfTheCommand() throws Exception {
    jdk("jdk-25", "25");
    run(Map.of(), "x");
    String arguments = Files.readString(Path.of(calls + ".arguments"));
    assertThat(arguments).contains("-Dfoliot.run").doesNotContain("-am");
    Matcher listed = Pattern.compile("-pl (\\S+)").matcher(arguments);
    assertThat(listed.find()).isTrue();
    Map<String, String> folders = new LinkedHashMap<>();
    Matcher modules = Pattern.compile("<module>(.*/(.*))</module>").matcher(pom(""));
    while (modules.find()) {
      folders.put(modules.group(2), modules.group(1));
    }
    Set<String> needed = new TreeSet<>();
    addNeeded(folders, "foliot-cli", needed);
    assertThat(Arrays.stream(listed.group(1).split(","))).containsExactlyInAnyOrderElementsOf(needed);
  }

  private static String pom(String module) throws IOException {
    return Files.readString(SCRIPT.resolveSibling(module).resolve("pom.xml"));
  }

  private static void addNeeded(Map<String, String> folders, String module, Set<String> needed) throws IOException {
    String folder = String.valueOf(folders.get(module));
    if (!needed.add(folder)) {
      return;
    }
    String text = pom(folder);
    Matcher dependencies = Pattern
        .compile("<groupId>io\\.foliot</groupId>\\s*<artifactId>([\\w-]+)</artifactId>(?!\\s*<version>|\\s*<scope>test|"
            + "\\s*<type>test-jar)")
        .matcher(text);
    while (dependencies.find()) {
      addNeeded(folders, dependencies.group(1), needed);
    }
  }
}
