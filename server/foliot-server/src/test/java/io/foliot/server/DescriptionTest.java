package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.api.ProblemKind;
import io.foliot.server.api.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Tests that the description of the API has exactly the routes of the server. {@link Rig} checks that answers conform
 * to the description.
 */
@SuppressWarnings("unchecked")
class DescriptionTest {
  /** Keywords of Java, JavaScript, Python or Go. Generators rename further names, each in its own language only. */
  private static final Set<String> KEYWORDS = Set.of("class", "default", "import", "package", "return", "for", "while",
      "if", "else", "switch", "case", "break", "continue", "func", "function", "def", "lambda", "pass", "with", "var",
      "const", "let", "new", "try", "catch", "throw", "yield", "global", "interface", "enum", "range", "select", "go");

  private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch", "head", "options");

  @Test
  void exactlyTheRoutesAreDescribed() {
    try (Rig rig = Rig.start()) {
      Object document = rig.get("/openapi.json").json();
      Set<String> described = new TreeSet<>();
      Map<String, Map<String, Object>> paths = (Map<String, Map<String, Object>>) requireNonNull(JsonTree.at(document,
          "paths"));
      paths.forEach((path, operations) -> operations.keySet().stream().filter(METHODS::contains)
          .forEach(method -> described.add(method.toUpperCase(Locale.ROOT) + " " + path)));
      Set<String> routes = new TreeSet<>();
      for (Route route : Route.values()) {
        routes.add(route.method() + " " + route.path());
        Object security = JsonTree.at(paths, route.path(), route.method().toLowerCase(Locale.ROOT), "security");
        boolean needsNoKey = List.of(Map.of()).equals(security);
        assertThat(needsNoKey).as(route.name() + " needs no key").isEqualTo(route.action() == null);
      }
      assertThat(described).isEqualTo(routes);
    }
  }

  /**
   * A generator of clients renames what clashes in its language: a property with the name of a keyword, and the
   * parameter of a body whose schema has the name of another parameter.
   */
  @Test
  void generatorsOfClientsKeepTheNames() {
    try (Rig rig = Rig.start()) {
      Object document = rig.get("/openapi.json").json();
      List<String> clashes = new ArrayList<>();
      findKeywords(document, "$", clashes);
      Map<String, ?> paths = (Map<String, ?>) requireNonNull(JsonTree.at(document, "paths"));
      paths.forEach((path, operations) -> ((Map<String, ?>) operations).forEach((method, operation) -> {
        if (find(operation, "requestBody", "content", "application/json", "schema",
            "$ref") instanceof String reference) {
          String name = reference.substring(reference.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
          if (path.contains("{" + name + "}")) {
            clashes.add(method + " " + path + ": " + reference);
          }
        }
      }));
      assertThat(clashes).isEmpty();
    }
  }

  private static @Nullable Object find(@Nullable Object tree, String... path) {
    Object value = tree;
    for (String step : path) {
      value = value instanceof Map<?, ?> map ? map.get(step) : null;
    }
    return value;
  }

  private static void findKeywords(@Nullable Object node, String path, List<String> clashes) {
    if (node instanceof Map<?, ?> members) {
      if (path.endsWith("/properties")) {
        members.keySet().stream().filter(KEYWORDS::contains).forEach(name -> clashes.add(path + "/" + name));
      }
      members.forEach((name, member) -> findKeywords(member, path + "/" + name, clashes));
    } else if (node instanceof List<?> items) {
      items.forEach(item -> findKeywords(item, path, clashes));
    }
  }

  @Test
  void theTypesOfProblemsAreUrnsAndDiffer() {
    assertThat(ProblemKind.UNKNOWN_QUEUE.type()).isEqualTo("urn:foliot:problem:unknown-queue");
    assertThat(List.of(ProblemKind.values())).extracting(ProblemKind::type).doesNotHaveDuplicates();
  }
}
