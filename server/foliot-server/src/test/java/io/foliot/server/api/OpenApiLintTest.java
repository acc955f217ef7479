package io.foliot.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that Redocly and Spectral have no findings about the description of the API under their recommended rules. The
 * test needs {@code npx}, Node.js 20.19 or newer, and the npm registry. This command runs the test:
 *
 * <pre>
 * mvn -ntp verify -Pmachine -pl :foliot-server -am -Dtest=OpenApiLintTest -Dsurefire.failIfNoSpecifiedTests=false
 * </pre>
 */
@Tag("machine")
final class OpenApiLintTest {
  private static final String REDOCLY = "@redocly/cli@2.77.0";
  private static final String SPECTRAL = "@stoplight/spectral-cli@6.16.3";
  /** Longest time of one run of a program. The first run also downloads the program. */
  private static final int TIMEOUT_MINUTES = 10;

  @TempDir
  private Path folder = Path.of("");

  private record Outcome(int exitCode, String output) {}

  private static String description() throws IOException {
    try (InputStream in = requireNonNull(OpenApiLintTest.class.getResourceAsStream("openapi.yaml"))) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private Outcome npx(String program, String... arguments) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(
        Stream.concat(Stream.of("npx", "--yes", program), Stream.of(arguments)).toList());
    builder.environment().put("REDOCLY_TELEMETRY", "off");
    builder.environment().put("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    Path output = folder.resolve("output");
    Process process = builder.directory(folder.toFile()).redirectErrorStream(true).redirectOutput(output.toFile())
        .start();
    try {
      assertThat(process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)).as("%s ended", program).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Outcome(process.exitValue(), Files.readString(output));
  }

  private Outcome redocly(String document) throws IOException, InterruptedException {
    Files.writeString(folder.resolve("openapi.yaml"), document);
    return npx(REDOCLY, "lint", "--extends=recommended", "openapi.yaml");
  }

  private Outcome spectral(String document) throws IOException, InterruptedException {
    Files.writeString(folder.resolve("openapi.yaml"), document);
    Files.writeString(folder.resolve("rules.yaml"), "extends: [\"spectral:oas\"]\n");
    return npx(SPECTRAL, "lint", "--ruleset=rules.yaml", "--fail-severity=hint", "openapi.yaml");
  }

  @Test
  void theDescriptionHasNoFindings() throws IOException, InterruptedException {
    Outcome redocly = redocly(description());
    assertThat(redocly.exitCode).as(redocly.output).isZero();
    assertThat(redocly.output).contains("Your API description is valid").doesNotContain("You have ");
    Outcome spectral = spectral(description());
    assertThat(spectral.exitCode).as(spectral.output).isZero();
  }

  @Test
  void aFindingOfEachProgramIsReported() throws IOException, InterruptedException {
    // Each program gets a document with one finding.
    String about = "    description: Health, metrics, the cluster, API keys and backups.\n";
    assertThat(description()).contains(about);
    assertThat(redocly(description().replace(about, "")).output).contains("You have 1 warning");
    String servers = "servers:\n  - url: /\n    description: The server that this document is read from\n";
    assertThat(description()).contains(servers);
    assertThat(spectral(description().replace(servers, "")).exitCode).isNotZero();
  }
}
