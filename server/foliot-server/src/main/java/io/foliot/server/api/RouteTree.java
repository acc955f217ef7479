package io.foliot.server.api;

import io.foliot.server.text.Nearest;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The tree of all routes, by the segments of their paths. A segment of a request is decoded before it is compared, so
 * that a key may contain any character.
 */
final class RouteTree {
  private final Node root = new Node();
  private final Set<String> paths = new TreeSet<>();

  private static final class Node {
    final Map<String, Node> literals = new HashMap<>();
    final Map<String, Route> methods = new TreeMap<>();
    @Nullable
    Node variable;
    String variableName = "";
  }

  /** The match of a path: the routes of the path by method, and the values of its variables. */
  record Match(Map<String, Route> methods, Map<String, String> variables) {
    /** Returns the route for a method, or null if the path has none; HEAD has the route of GET. */
    @Nullable
    Route route(String method) {
      return methods.get(method.equals("HEAD") ? "GET" : method);
    }

    /** Returns the methods of the path, as the header Allow lists them. */
    String allow() {
      List<String> all = new ArrayList<>(methods.keySet());
      if (methods.containsKey("GET")) {
        all.add("HEAD");
      }
      return String.join(", ", all);
    }
  }

  RouteTree() {
    Set<Route> routes = EnumSet.allOf(Route.class);
    for (Route route : routes) {
      paths.add(route.path());
      Node node = root;
      for (String segment : segments(route.path())) {
        node = segment.startsWith("{")
            ? variable(node, segment)
            : node.literals.computeIfAbsent(segment,
                ignored -> new Node());
      }
      if (node.methods.put(route.method(), route) != null) {
        throw new IllegalStateException("two routes have the same method and path: route=" + route);
      }
    }
  }

  /** Returns the path of a route that a path without a route probably means, with the same variables; null if none. */
  @Nullable
  String nearest(String path) {
    String[] given = segments(path);
    return Nearest.of(path, paths.stream().map(RouteTree::segments).filter(known -> known.length == given.length)
        .map(known -> filled(known, given)).toList());
  }

  private static String filled(String[] known, String[] given) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < known.length; i++) {
      path.append('/').append(known[i].startsWith("{") ? given[i] : known[i]);
    }
    return path.toString();
  }

  private static Node variable(Node node, String segment) {
    String name = segment.substring(1, segment.length() - 1);
    Node next = node.variable;
    if (next == null) {
      next = new Node();
      node.variable = next;
      node.variableName = name;
    }
    if (!node.variableName.equals(name)) {
      throw new IllegalStateException("two routes name the same variable of a path differently: segment=" + segment);
    }
    return next;
  }

  private static String[] segments(String path) {
    return path.length() <= 1 ? new String[0] : path.substring(1).split("/", -1);
  }

  /**
   * Returns the match of a path, or null if no route has the path.
   *
   * @param path the path as it was sent
   * @throws Problem if a segment cannot be {@linkplain #decode decoded}
   */
  @Nullable
  Match find(String path) {
    Node node = root;
    Map<String, String> variables = Map.of();
    for (String segment : segments(path)) {
      String text = decode(segment);
      Node next = node.literals.get(text);
      if (next == null) {
        next = node.variable;
        if (next == null || text.isEmpty()) {
          return null;
        }
        variables = variables.isEmpty() ? new LinkedHashMap<>(4) : variables;
        variables.put(node.variableName, text);
      }
      node = next;
    }
    return node.methods.isEmpty() ? null : new Match(node.methods, variables);
  }

  /**
   * Decodes the percent-encoded bytes of a path's segment.
   *
   * @throws Problem if the bytes are not UTF-8, or the segment is not percent-encoded correctly
   */
  static String decode(String segment) {
    if (segment.indexOf('%') < 0) {
      return segment;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(segment.length());
    for (int i = 0; i < segment.length(); i++) {
      char c = segment.charAt(i);
      if (c == '%') {
        int high = hex(segment, i + 1);
        int low = hex(segment, i + 2);
        if (high < 0 || low < 0) {
          throw notEncoded();
        }
        bytes.write(high << 4 | low);
        i += 2;
      } else if (c < 0x80) {
        bytes.write(c);
      } else {
        throw notEncoded();
      }
    }
    byte[] decoded = bytes.toByteArray();
    if (Utf8.firstMistake(decoded) >= 0) {
      throw notEncoded();
    }
    return new String(decoded, StandardCharsets.UTF_8);
  }

  private static int hex(String text, int at) {
    char c = at < text.length() ? text.charAt(at) : 'x';
    return c < 0x80 ? Character.digit(c, 16) : -1;
  }

  private static Problem notEncoded() {
    return new Problem(ProblemKind.INVALID_REQUEST,
        "the path must be ASCII; send each other character as its bytes in UTF-8, percent-encoded, and a space as %20");
  }
}
