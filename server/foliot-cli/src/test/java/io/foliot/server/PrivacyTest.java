package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that only the user who runs the server can read the files that the server writes. */
class PrivacyTest {
  @TempDir
  private Path folder;

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private ChildServer.Spec server(String... options) {
    return ChildServer.Spec.server(List.of("-Xmx64m"), options);
  }

  @ParameterizedTest
  @ValueSource(strings = {"000", "022", "077"})
  void filesOfTheServerArePrivateUnderAnyUmask(String umask) throws Exception {
    Path data = folder.resolve("new").resolve("data");
    try (ChildServer child = ChildServer.ready(server("--data", data.toString()).after("umask " + umask), folder)) {
      assertThat(child.send("POST", "/v1/backups", "{\"directory\": \"first\"}").statusCode()).isEqualTo(201);
      assertThat(permissions(folder.resolve("new"))).isEqualTo("rwx------");
      assertThat(permissions(data)).isEqualTo("rwx------");
      assertThat(permissions(data.resolve("store"))).isEqualTo("rwx------");
      assertThat(permissions(data.resolve("node"))).isEqualTo("rw-------");
      assertThat(permissions(data.resolve("backups"))).isEqualTo("rwx------");
    }
  }

  @Test
  void filesThatAnEarlierVersionLeftReadableBecomePrivate() throws Exception {
    Path data = folder.resolve("data");
    Files.createDirectories(data.resolve("store"));
    Files.writeString(data.resolve("node"), "old\n");
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(data.resolve("store"), PosixFilePermissions.fromString("rwxrwxr-x"));
    Files.setPosixFilePermissions(data.resolve("node"), PosixFilePermissions.fromString("rw-r--r--"));
    try (ChildServer child = ChildServer.ready(server("--data", data.toString()), folder)) {
      assertThat(permissions(data.resolve("store"))).isEqualTo("rwx------");
      assertThat(permissions(data.resolve("node"))).isEqualTo("rw-------");
      // The data folder keeps its permissions, because it may contain files for other users.
      assertThat(permissions(data)).isEqualTo("rwxr-xr-x");
      assertThat(child.send("GET", "/v1/cluster", null).body()).contains("\"node\":\"old\"");
    }
  }

  @Test
  void aReadableConfigurationWithSecretsIsReported() throws Exception {
    Path file = folder.resolve("foliot.yaml");
    Files.writeString(file, "store: {kind: memory, password: s3cret}\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    try (ChildServer child = ChildServer.ready(server("--config", file.toString()), folder)) {
      assertThat(child.output()).contains("other users can read secrets", file.toString(), "store.password")
          .doesNotContain("s3cret");
    }
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    try (ChildServer child = ChildServer.ready(server("--config", file.toString()), folder)) {
      assertThat(child.output()).doesNotContain("other users can read secrets");
    }
    Files.writeString(file, "store: {kind: memory}\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    try (ChildServer child = ChildServer.ready(server("--config", file.toString()), folder)) {
      assertThat(child.output()).doesNotContain("other users can read secrets");
    }
  }
}
