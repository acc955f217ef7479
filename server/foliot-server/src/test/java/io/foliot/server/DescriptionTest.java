package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.api.ProblemKind;
import io.foliot.server.api.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Tests that the description of the API has exactly the routes of the server, and that its schemas are fit for
 * generators of clients. {@link Rig} checks that answers conform to the description.
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

  // The schemas, as generators of clients need them. GeneratedClientsTest runs the generators.

  private static Object document() {
    try (InputStream in = requireNonNull(Route.class.getResourceAsStream("openapi.yaml"))) {
      return requireNonNull(JsonTree.parse(new JsonMapper().writeValueAsString(new YAMLMapper().readTree(in))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Object> schemas() {
    return (Map<String, Object>) requireNonNull(JsonTree.at(document(), "components", "schemas"));
  }

  /** Adds what a check finds wrong about a node of the document. */
  @FunctionalInterface
  private interface Check {
    void of(String path, Map<String, Object> node, List<String> findings);
  }

  /** Returns what a check finds at any node of the document. */
  private static List<String> findings(Check check) {
    List<String> findings = new ArrayList<>();
    visit(document(), "", check, findings);
    return findings;
  }

  private static void visit(@Nullable Object node, String path, Check check, List<String> findings) {
    if (node instanceof Map<?, ?> members) {
      check.of(path, (Map<String, Object>) members, findings);
      members.forEach((name, member) -> visit(member, path + "/" + name, check, findings));
    } else if (node instanceof List<?> items) {
      for (int i = 0; i < items.size(); i++) {
        visit(items.get(i), path + "/" + i, check, findings);
      }
    }
  }

  private static boolean isSchema(Map<String, Object> node) {
    return node.get("type") instanceof String || node.get("type") instanceof List<?>;
  }

  private static boolean isOf(Map<String, Object> schema, String type) {
    return type.equals(schema.get("type")) || (schema.get("type") instanceof List<?> types && types.contains(type));
  }

  /** A generator of clients invents a name for a schema that has none. */
  @Test
  void eachObjectHasAName() {
    assertThat(findings((path, node, findings) -> {
      boolean isObject = (isSchema(node) && isOf(node, "object")) || node.containsKey("allOf")
          || (node.get("oneOf") instanceof List<?> choices && !choices.contains(Map.of("type", "null")));
      if (isObject && !path.matches("/components/schemas/[A-Za-z]+")) {
        findings.add(path);
      }
    })).isEmpty();
  }

  /** A generator makes any value of an enumeration without a type, and numbers of 32 bits of numbers without one. */
  @Test
  void eachTypeIsComplete() {
    assertThat(findings((path, node, findings) -> {
      if (path.endsWith("/properties") || path.endsWith("/example")) {
        return;
      }
      boolean isComplete = !(node.get("enum") instanceof List<?>) || isOf(node, "string");
      if (isSchema(node) && isOf(node, "integer")) {
        isComplete = Set.of("int32", "int64").contains(String.valueOf(node.get("format")));
      } else if (isSchema(node) && isOf(node, "number")) {
        isComplete = "double".equals(node.get("format"));
      } else if (isSchema(node) && isOf(node, "array")) {
        isComplete = node.get("items") instanceof Map<?, ?>;
      } else if (isSchema(node) && isOf(node, "object")) {
        isComplete = node.containsKey("properties") || node.containsKey("additionalProperties");
      }
      if (!isComplete) {
        findings.add(path);
      }
    })).isEmpty();
  }

  @Test
  void eachRequiredFieldIsDescribed() {
    assertThat(findings((path, node, findings) -> {
      if (node.get("required") instanceof List<?> required && node.get("properties") instanceof Map<?, ?> properties) {
        required.stream().filter(name -> !properties.containsKey(name))
            .forEach(name -> findings.add(path + "/" + name));
      }
    })).isEmpty();
  }

  @Test
  void eachSchemaIsUsed() {
    Set<String> unused = new TreeSet<>(schemas().keySet());
    visit(document(), "", (path, node, findings) -> {
      if (node.get("$ref") instanceof String reference) {
        unused.remove(reference.substring(reference.lastIndexOf('/') + 1));
      }
    }, new ArrayList<>());
    assertThat(unused).isEmpty();
  }

  /**
   * A generator of clients renames what clashes in its language: a property with the name of a keyword, and the
   * parameter of a body whose schema has the name of another parameter. In Go, a constructor of a type {@code Job} is
   * {@code NewJob}, the words of all enumerations with a name are constants of one name space, and a pattern is part of
   * a struct tag, which a comma would end.
   */
  @Test
  void generatorsOfClientsKeepTheNames() {
    List<String> clashes = findings((path, node, findings) -> {
      if (path.endsWith("/properties")) {
        node.keySet().stream().filter(KEYWORDS::contains).forEach(name -> findings.add(path + "/" + name));
      }
      if (node.get("pattern") instanceof String pattern && pattern.contains(",")) {
        findings.add(path + ": " + pattern);
      }
    });
    Map<String, ?> paths = (Map<String, ?>) requireNonNull(JsonTree.at(document(), "paths"));
    paths.forEach((path, operations) -> ((Map<String, ?>) operations).forEach((method, operation) -> {
      if (find(operation, "requestBody", "content") instanceof Map<?, ?> content) {
        content.values().forEach(type -> {
          if (find(type, "schema", "$ref") instanceof String reference) {
            String name = reference.substring(reference.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
            if (path.contains("{" + name + "}")) {
              clashes.add(method + " " + path + ": " + reference);
            }
          }
        });
      }
    }));
    Map<String, String> words = new HashMap<>();
    schemas().forEach((name, schema) -> {
      if (name.startsWith("New") && schemas().containsKey(name.substring("New".length()))) {
        clashes.add(name);
      }
      if (find(schema, "enum") instanceof List<?> choices) {
        for (Object word : choices) {
          String other = words.put(String.valueOf(word).toUpperCase(Locale.ROOT), name);
          if (other != null) {
            clashes.add(word + " of " + other + " and " + name);
          }
        }
      }
    });
    assertThat(clashes).isEmpty();
  }

  @Test
  void eachOperationHasANameOfItsOwn() {
    Set<String> names = new TreeSet<>();
    assertThat(findings((path, node, findings) -> {
      if (node.get("operationId") instanceof String name
          && (!names.add(name.toLowerCase(Locale.ROOT)) || !name.matches("[a-z]+([A-Z][A-Za-z]+)?"))) {
        findings.add(path + ": " + name);
      }
    })).isEmpty();
    assertThat(names).hasSize(Route.values().length + 1);
  }

  @Test
  void eachOperationMayBeAnsweredWithAProblem() {
    Object problem = Map.of("$ref", "#/components/responses/Problem");
    assertThat(findings((path, node, findings) -> {
      if (path.startsWith("/paths/") && node.get("operationId") instanceof String name) {
        for (String status : List.of("4XX", "default")) {
          if (!problem.equals(find(node, "responses", status))) {
            findings.add(name + " " + status);
          }
        }
      }
    })).isEmpty();
    assertThat((Map<String, ?>) JsonTree.at(document(), "components", "responses", "Problem", "content"))
        .containsOnlyKeys("application/problem+json");
  }

  @Test
  void theExamplesAndDefaultsConformToTheirSchemas() {
    Description description = new Description(document());
    int[] checked = new int[1];
    visit(document(), "", (path, node, findings) -> {
      if (node.containsKey("example") && node.containsKey("schema")) {
        description.checkExample(requireNonNull(node.get("schema")), node.get("example"), path);
        checked[0]++;
      }
      if (isSchema(node) || node.containsKey("$ref")) {
        List<Object> values = new ArrayList<>(node.get("examples") instanceof List<?> examples ? examples : List.of());
        if (node.containsKey("default")) {
          values.add(requireNonNull(node.get("default")));
        }
        values.forEach(value -> description.checkExample(node, value, path));
        checked[0] += values.size();
      }
    }, new ArrayList<>());
    assertThat(checked[0]).isGreaterThan(20);
  }

  private static @Nullable Object find(@Nullable Object tree, String... path) {
    Object value = tree;
    for (String step : path) {
      value = value instanceof Map<?, ?> map ? map.get(step) : null;
    }
    return value;
  }

  @Test
  void theTypesOfProblemsAreUrnsAndDiffer() {
    assertThat(ProblemKind.UNKNOWN_QUEUE.type()).isEqualTo("urn:foliot:problem:unknown-queue");
    assertThat(List.of(ProblemKind.values())).extracting(ProblemKind::type).doesNotHaveDuplicates();
  }
}
