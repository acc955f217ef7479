package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.api.ProblemKind;
import io.foliot.server.api.Route;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Tests that the description of the API has exactly the routes of the server. {@link Rig} checks that answers conform
 * to the description.
 */
class DescriptionTest {
  private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch", "head", "options");

  @Test
  @SuppressWarnings("unchecked")
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

  @Test
  void theTypesOfProblemsAreUrnsAndDiffer() {
    assertThat(ProblemKind.UNKNOWN_QUEUE.type()).isEqualTo("urn:foliot:problem:unknown-queue");
    assertThat(List.of(ProblemKind.values())).extracting(ProblemKind::type).doesNotHaveDuplicates();
  }
}
