package io.foliot.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the archive that {@code mvn package} makes, unpacked in a folder whose name has a space. */
final class DistributionTest {
  private static final Path TAR = Path.of(System.getProperty("foliot.tar"));
  private static final Path ROOT = Path.of("..", "..");
  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));
  /** An option of the JVM in a script. */
  private static final Pattern JVM_OPTION = Pattern
      .compile("-X(?:X|log|mx|ms)[\\w:+*=-]+|--sun-misc[\\w-]+=\\w+|-Dfoliot\\.\\w+=\\w+");
  /** Options for the archives of classes that only the script of the sources makes. */
  private static final List<String> ARCHIVES = List.of("-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit",
      "-XX:AOTCache", "-XX:AOTCacheOutput", "-XX:ErrorFile=");

  @TempDir
  private static Path folder = Path.of("");
  private static Path home = Path.of("");

  @TempDir
  private Path bin = Path.of("");

  @BeforeAll
  static void unpack() throws IOException, InterruptedException {
    Path unpacked = Files.createDirectory(folder.resolve("un packed"));
    Program.output("tar", "xzf", TAR.toString(), "-C", unpacked.toString());
    try (Stream<Path> folders = Files.list(unpacked)) {
      assertThat(folders).hasSize(1).allSatisfy(only -> home = only);
    }
    assertThat(home.getFileName() + ".tar.gz").isEqualTo(String.valueOf(TAR.getFileName()));
  }

  /** Deletes the links before JUnit warns that they lead out of its folder. */
  @AfterEach
  void deleteLinks() throws IOException {
    try (Stream<Path> files = Files.list(bin)) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  /** Writes a java of the given version, which prints its arguments, one a line. */
  private static Path fakeJava(Path folder, String version) throws IOException {
    Path java = folder.resolve("java");
    Files.writeString(java, """
        #!/bin/sh
        if [ "$1" = -version ]; then
          echo 'openjdk version "%s" 2021-09-14' >&2
        else
          for each in "$@"; do echo "$each"; done
        fi
        """.formatted(version));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    return java;
  }

  private Program foliot(Map<String, String> environment, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(home.resolve("bin/foliot").toString()));
    command.addAll(List.of(words));
    Map<String, String> all = new HashMap<>(Map.of("PATH", bin + ":/usr/bin:/bin", "HOME", folder.toString()));
    all.putAll(environment);
    return Program.run(all, command);
  }

  @Test
  void theCommandRunsWithTheJavaOfJavaHome() throws Exception {
    fakeJava(bin, "17");
    Program version = foliot(Map.of("JAVA_HOME", JAVA_HOME.toString()), "--version");
    assertThat(version.err()).isEmpty();
    assertThat(version.exitCode()).isZero();
    assertThat(version.out()).startsWith("foliot " + String.valueOf(home.getFileName()).substring("foliot-".length()));
  }

  @Test
  void theCommandRunsThroughALinkWithTheJavaOfThePath() throws Exception {
    Files.createSymbolicLink(bin.resolve("java"), JAVA_HOME.resolve("bin/java"));
    Path link = Files.createSymbolicLink(bin.resolve("foliot"), home.resolve("bin/foliot"));
    Program help = Program.run(Map.of("PATH", bin + ":/usr/bin:/bin"), List.of(link.toString(), "--help"));
    assertThat(help.err()).isEmpty();
    assertThat(help.out()).contains("Commands:", "server", "submit");
  }

  @Test
  void anOldJavaIsReportedInOneLine() throws Exception {
    Path java = fakeJava(bin, "17");
    Program refused = foliot(Map.of("JAVA_HOME", "/nowhere"), "server");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err()).isEqualTo("foliot: needs Java 21 or newer, but found no /nowhere/bin/java, " + java
        + " of Java 17: install one, or set JAVA_HOME to its folder\n");

    fakeJava(bin, "1.8.0_402");
    assertThat(foliot(Map.of(), "server").err()).contains(java + " of Java 8:").hasLineCount(1);
    Files.writeString(java, "#!/bin/sh\necho 'no JVM here'\n");
    assertThat(foliot(Map.of(), "server").err()).contains(java + " of an unknown version:").hasLineCount(1);
  }

  @Test
  void aMissingJavaIsReportedInOneLine() throws Exception {
    for (String tool : List.of("dirname", "readlink", "sed")) {
      Files.createSymbolicLink(bin.resolve(tool), Path.of(Program.output("which", tool).strip()));
    }
    Program refused = foliot(Map.of("PATH", bin.toString()), "--version");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).isEqualTo("foliot: needs Java 21 or newer, but found no java on the PATH: install one,"
        + " or set JAVA_HOME to its folder\n");
    assertThat(foliot(Map.of("PATH", bin.toString(), "FOLIOT_JAVA_HOME", "/nowhere"), "--version").err())
        .contains("found no /nowhere/bin/java:").hasLineCount(1);
  }

  @Test
  void theJvmGetsTheOptionsOfTheCommand() throws Exception {
    fakeJava(bin, "25.0.1");
    assertThat(foliot(Map.of("FOLIOT_JAVA_OPTS", "-Xmx4g -Da=b"), "server", "--data", "a folder").out().lines())
        .containsExactly("-Xlog:cds*=off", "--sun-misc-unsafe-memory-access=allow", "-Xlog:aot*=off", "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=25", "-Xmx1g", "-XX:+ExitOnOutOfMemoryError", "-Xmx4g", "-Da=b", "-jar",
            home.resolve("foliot.jar").toRealPath().toString(), "server", "--data", "a folder");
    fakeJava(bin, "21.0.2");
    assertThat(foliot(Map.of("FOLIOT_JAVA_OPTS", "-XX:+UseZGC"), "queues").out().lines())
        .containsExactly("-Xlog:cds*=off", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx256m", "-XX:+UseZGC",
            "-jar", home.resolve("foliot.jar").toRealPath().toString(), "queues");
  }

  private static Set<String> options(Path script) throws IOException {
    TreeSet<String> found = new TreeSet<>();
    JVM_OPTION.matcher(Files.readString(script).replaceAll("(?m)^#.*$", "")).results().map(MatchResult::group)
        .filter(option -> !ARCHIVES.contains(option)).forEach(found::add);
    assertThat(found).hasSizeGreaterThan(8);
    return found;
  }

  @Test
  void theOptionsAreThoseOfTheScriptOfTheSources() throws Exception {
    assertThat(options(home.resolve("bin/foliot"))).isEqualTo(options(ROOT.resolve("foliot")));
  }

  @Test
  void theJarNamesExactlyTheLibraries() throws Exception {
    TreeSet<String> named = new TreeSet<>();
    try (JarFile jar = new JarFile(home.resolve("foliot.jar").toFile())) {
      named.addAll(List.of(jar.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH).split(" ", -1)));
    }
    TreeSet<String> shipped = new TreeSet<>();
    try (Stream<Path> lib = Files.list(home.resolve("lib"))) {
      lib.forEach(file -> shipped.add("lib/" + file.getFileName()));
    }
    assertThat(shipped).isEqualTo(named).hasSizeGreaterThan(90);
  }

  /** Returns the lines of the list below a library, which is named by artifact and version. */
  private static List<String> licences(String list, String library) {
    return list.lines().dropWhile(line -> !line.replaceFirst("^[\\w.-]+:", "").replace(':', '-').equals(library))
        .skip(1)
        .takeWhile(line -> line.startsWith("  ") && !line.isBlank()).toList();
  }

  @Test
  void eachLibraryOfOthersHasItsLicence() throws Exception {
    String list = Files.readString(home.resolve("THIRD-PARTY.txt"));
    try (Stream<Path> lib = Files.list(home.resolve("lib"))) {
      assertThat(lib.map(file -> String.valueOf(file.getFileName())).filter(name -> !name.startsWith("foliot-")))
          .hasSizeGreaterThan(80)
          .allSatisfy(name -> assertThat(licences(list, name.replaceFirst("\\.jar$", ""))).as(name).isNotEmpty());
    }
    assertThat(licences(list, "unknown-1.0")).as("a library that is not listed").isEmpty();
  }

  @Test
  void theDocumentedUnitIsTheShippedUnit() throws Exception {
    String unit = Files.readString(home.resolve("systemd/foliot.service"));
    assertThat(Files.readString(ROOT.resolve("docs/operating.md"))).contains("```ini\n" + unit + "```\n");
  }

  /** Names, times and owners that depend on the build would make the bytes of two builds differ. */
  @Test
  void theArchiveDependsOnNoClockAndNoUser() throws Exception {
    List<String> entries = Program.output("tar", "--full-time", "-tvzf", TAR.toString()).lines().toList();
    assertThat(entries).hasSizeGreaterThan(100)
        .allSatisfy(entry -> assertThat(entry)
            .matches("-rw(?:-r--r--|xr-xr-x) root/root +\\d+ 2026-11-21 00:00:00 foliot-.*"))
        .filteredOn(entry -> entry.startsWith("-rwx")).hasSize(1).allMatch(entry -> entry.endsWith("/bin/foliot"));
    // A gzip header has the time of the build in its bytes 4 to 7, or zero.
    try (var in = Files.newInputStream(TAR)) {
      assertThat(in.readNBytes(8)).endsWith(0, 0, 0, 0);
    }
  }
}
