package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Makes clients for TypeScript, Go and Python of the description of the API with OpenAPI Generator, compiles them, and
 * runs a program over those for TypeScript and Go against a server. The programs are {@code story.ts} and
 * {@code story.go}. Maven brings the generator in the machine tier. The test needs {@code npx}, Node.js, {@code go},
 * {@code python3}, the npm registry, and Debian's package {@code golang-gopkg-validator.v2-dev}. This command runs it:
 *
 * <pre>
 * mvn -ntp verify -Pmachine -pl :foliot-server -am -Dtest=GeneratedClientsTest -Dsurefire.failIfNoSpecifiedTests=false
 * </pre>
 */
@Tag("machine")
final class GeneratedClientsTest {
  private static final String TYPESCRIPT = "typescript@5.9.3";
  /** The sources of Go packages that Debian installs. */
  private static final String GO_PACKAGES = "/usr/share/gocode";
  /** Longest time of one run of a program. The first run of npx also downloads the program. */
  private static final int TIMEOUT_MINUTES = 10;

  /** Names that the generator invents for schemas without a name. */
  private static final Pattern INVENTED = Pattern.compile("(Inner|200Response|Request\\d*|OneOf\\d*|_\\d|\\d)$");

  @TempDir
  private static Path folder = Path.of("");
  private static final Rig rig = Rig.start(Map.of("call-timeout", "20s"));

  @BeforeAll
  static void writeTheDescription() throws IOException {
    Files.writeString(folder.resolve("openapi.json"), rig.send("GET", "/openapi.json", null, Map.of()).body());
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static String run(Path directory, Map<String, String> environment, List<String> command) {
    try {
      Path output = Files.createTempFile(folder, "output", ".txt");
      ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
          .redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      try {
        assertThat(process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)).as("%s ended", command).isTrue();
      } finally {
        process.destroyForcibly();
      }
      String text = Files.readString(output);
      assertThat(process.exitValue()).as("%s\n%s", command, text).isZero();
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Makes a client, and returns its folder. */
  private static Path generate(String document, String generator, Path client, String... options) {
    Path jar = Path.of("target", "generators", "openapi-generator-cli.jar").toAbsolutePath();
    assertThat(jar).as("the generator, which the profile machine brings").exists();
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-jar", jar.toString(), "generate", "-i", document, "-g", generator, "-o", client.toString()));
    command.addAll(List.of(options));
    run(folder, Map.of(), command);
    return client;
  }

  private static void copy(String name, Path target) throws IOException {
    try (InputStream in = requireNonNull(GeneratedClientsTest.class.getResourceAsStream("clients/" + name))) {
      Files.copy(in, target);
    }
  }

  /** Returns the first group of each match in the files of a folder whose names match a pattern. */
  private static List<String> names(Path directory, String file, String pattern) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      List<String> texts = new ArrayList<>();
      for (Path each : files.filter(path -> path.getFileName().toString().matches(file)).toList()) {
        texts.add(Files.readString(each));
      }
      return texts.stream()
          .flatMap(text -> Pattern.compile(pattern, Pattern.MULTILINE).matcher(text).results().map(MatchResult::group))
          .map(match -> match.replaceFirst(pattern, "$1")).distinct().toList();
    }
  }

  private static void ensureNoneInvented(List<String> names, int atLeast) {
    assertThat(names).hasSizeGreaterThan(atLeast);
    assertThat(names.stream().filter(name -> INVENTED.matcher(name).find())).isEmpty();
  }

  private static List<String> models(Path typescript) throws IOException {
    return names(typescript.resolve("models"), ".*\\.ts", "^export (?:interface|type|const) (\\w+)\\b");
  }

  @Test
  void aTypescriptClientCompilesAndWorks() throws IOException {
    Path project = Files.createDirectory(folder.resolve("typescript"));
    Path client = generate("openapi.json", "typescript-fetch", project.resolve("client"));
    ensureNoneInvented(models(client), 80);
    ensureNoneInvented(names(client.resolve("apis"), ".*\\.ts", "^    (\\w+)\\??: "), 30);
    copy("story.ts", project.resolve("story.ts"));
    run(project, Map.of(), List.of("npx", "--yes", "-p", TYPESCRIPT, "tsc", "--strict", "--target", "es2022",
        "--module", "commonjs", "--outDir", "out", "story.ts"));
    run(project, Map.of(), List.of("node", "out/story.js", rig.server.url().toString()));
  }

  @Test
  void aGoClientCompilesAndWorks() throws IOException {
    Path path = Files.createDirectory(folder.resolve("go"));
    Path client = generate("openapi.json", "go", path.resolve("src").resolve("foliot"),
        "--additional-properties=packageName=foliot,withGoMod=false");
    ensureNoneInvented(names(client, "model_.*\\.go", "^type ([A-Z]\\w+) struct"), 80);
    ensureNoneInvented(names(client, "api_.*\\.go", "^ @param (\\w+)"), 5);
    Path story = Files.createDirectories(path.resolve("src").resolve("story"));
    copy("story.go", story.resolve("main.go"));
    Map<String, String> environment = Map.of("GO111MODULE", "off", "GOPATH", path + ":" + GO_PACKAGES);
    run(story, environment, List.of("go", "vet", "foliot", "story"));
    run(story, environment, List.of("go", "run", "story", rig.server.url().toString()));
  }

  @Test
  void aPythonClientCompiles() throws IOException {
    Path client = generate("openapi.json", "python", folder.resolve("python"),
        "--additional-properties=packageName=foliot");
    ensureNoneInvented(names(client.resolve("foliot").resolve("models"), ".*\\.py", "^class (\\w+)\\("), 80);
    ensureNoneInvented(names(client.resolve("foliot").resolve("api"), ".*\\.py", ":param (\\w+): "), 20);
    run(client, Map.of(), List.of("python3", "-m", "compileall", "-q", "foliot"));
  }

  @Test
  void anInventedNameIsFound() throws IOException {
    Files.writeString(folder.resolve("inline.yaml"), """
        openapi: 3.1.0
        info: {title: An object without a name, version: v1}
        paths:
          /things:
            get:
              operationId: listThings
              responses:
                '200':
                  description: The things
                  content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}
        """);
    Path client = generate("inline.yaml", "typescript-fetch", folder.resolve("inline"));
    assertThat(models(client)).anyMatch(name -> INVENTED.matcher(name).find());
  }
}
