package io.foliot.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the Debian package with dpkg-deb. */
@Tag("machine")
final class DebianPackageTest {
  private static final String DEB = System.getProperty("foliot.deb");

  @TempDir
  private Path folder = Path.of("");

  /** Returns the rights and owner of each path, and the target of each link. */
  private static Map<String, String> contents() throws IOException, InterruptedException {
    Map<String, String> found = new TreeMap<>();
    Program.output("dpkg-deb", "-c", DEB).lines().forEach(line -> {
      String[] columns = line.split(" +", 6);
      String[] link = columns[5].split(" -> ", 2);
      found.put(link[0].substring(1), columns[0] + " " + columns[1] + (link.length > 1 ? " -> " + link[1] : ""));
    });
    return found;
  }

  private static String field(String name) throws IOException, InterruptedException {
    return Program.output("dpkg-deb", "-f", DEB, name).strip();
  }

  @Test
  void theControlFileNamesThePackage() throws Exception {
    assertThat(field("Package")).isEqualTo("foliot");
    assertThat(field("Version")).matches("\\d+\\.\\d+\\.\\d+(?:~snapshot)?");
    assertThat(field("Architecture")).isEqualTo("all");
    assertThat(field("Depends")).isEqualTo("adduser, init-system-helpers");
    assertThat(field("Recommends")).contains("java21-runtime-headless");
    assertThat(Integer.parseInt(field("Installed-Size"))).as("kilobytes").isBetween(80_000, 250_000);
  }

  @Test
  void filesAndFoldersHaveTheirRights() throws Exception {
    assertThat(contents())
        .containsEntry("/usr/share/foliot/bin/foliot", "-rwxr-xr-x root/root")
        .containsEntry("/usr/share/foliot/foliot.jar", "-rw-r--r-- root/root")
        .containsEntry("/usr/lib/systemd/system/foliot.service", "-rw-r--r-- root/root")
        .containsEntry("/etc/foliot/foliot.yaml", "-rw-r--r-- root/root")
        .containsEntry("/var/lib/foliot/", "drwx------ root/root")
        .containsKeys("/usr/share/doc/foliot/copyright", "/usr/share/doc/foliot/THIRD-PARTY.txt")
        .hasEntrySatisfying("/usr/bin/foliot",
            link -> assertThat(link).endsWith("root/root -> /usr/share/foliot/bin/foliot"));
    assertThat(contents().keySet()).as("libraries").filteredOn(path -> path.matches("/usr/share/foliot/lib/.+\\.jar"))
        .hasSizeGreaterThan(90);
  }

  @Test
  void theSettingsAreTheOnlyConffile() throws Exception {
    assertThat(Program.output("dpkg-deb", "-I", DEB, "conffiles").strip()).isEqualTo("/etc/foliot/foliot.yaml");
  }

  @Test
  void theUnitAndTheSettingsAreThoseOfTheArchive() throws Exception {
    Program.output("dpkg-deb", "-x", DEB, folder.toString());
    assertThat(folder.resolve("usr/lib/systemd/system/foliot.service"))
        .hasSameBinaryContentAs(Path.of("src/dist/systemd/foliot.service"));
    assertThat(folder.resolve("etc/foliot/foliot.yaml")).hasSameBinaryContentAs(Path.of("src/dist/foliot.yaml"));
    assertThat(Files.isExecutable(folder.resolve("usr/share/foliot/bin/foliot"))).isTrue();
  }
}
