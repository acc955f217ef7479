package io.foliot.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Compares the BOM, which has no parent, with the POMs of the modules. */
final class PublishedArtifactsTest {
  private static final Path ROOT = Path.of("..", "..");

  private static String pom(String module) throws IOException {
    return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
  }

  private static List<String> all(String text, String element) {
    return Pattern.compile("<" + element + ">([^<]*)</" + element + ">").matcher(text).results()
        .map((MatchResult found) -> found.group(1)).toList();
  }

  /** Returns the first element that is a child of the project. */
  private static String own(String pom, String element) {
    return Pattern.compile("^  <" + element + ">([^<]*)</", Pattern.MULTILINE).matcher(pom).results()
        .map(found -> found.group(1)).findFirst().orElseThrow();
  }

  @Test
  void theBomHasExactlyThePublishedModules() throws Exception {
    TreeSet<String> published = new TreeSet<>();
    for (String module : all(pom(""), "module")) {
      String pom = pom(module);
      if (!pom.contains("<maven.deploy.skip>true</maven.deploy.skip>") && !pom.contains("<packaging>pom</packaging>")) {
        published.add(own(pom, "artifactId"));
      }
    }
    String bom = pom("clients/foliot-bom");
    List<String> managed = all(bom.substring(bom.indexOf("<dependencyManagement>"),
        bom.indexOf("</dependencyManagement>")), "artifactId");
    assertThat(managed).isSorted().doesNotHaveDuplicates();
    assertThat(new TreeSet<>(managed)).isEqualTo(published).hasSizeGreaterThan(15);
  }

  @Test
  void theBomAndThePackageRepeatTheParent() throws Exception {
    String parent = pom("");
    String bom = pom("clients/foliot-bom");
    for (String element : List.of("groupId", "version")) {
      assertThat(own(bom, element)).as(element).isEqualTo(own(parent, element));
    }
    for (String element : List.of("foliot.url", "project.build.outputTimestamp", "connection", "developerConnection")) {
      assertThat(all(bom, element)).as(element).isEqualTo(all(parent, element)).hasSize(1);
    }
    assertThat(Files.readString(Path.of("src/deb/control/control")))
        .contains("\nHomepage: " + all(parent, "foliot.url").getFirst() + "\n");
    assertThat(bom).doesNotContain("<parent>");
  }
}
