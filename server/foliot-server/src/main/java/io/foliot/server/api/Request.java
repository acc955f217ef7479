package io.foliot.server.api;

import io.foliot.server.security.Caller;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A request of a known caller for a known route. */
public final class Request {
  private static final List<String> NDJSON_TYPES = List.of("application/x-ndjson", "application/ndjson",
      "application/jsonl", "application/x-jsonlines");

  private final Incoming incoming;
  private final Map<String, String> variables;
  private final Caller caller;
  private final BooleanSupplier isCallerKnown;
  private final Map<String, String> audited = new LinkedHashMap<>();

  /** A request as the web server provides it. */
  public interface Incoming {
    /**
     * Names the caller, after it is known and before anything else of the request is used. What the request uses is
     * charged to the caller. Returns false if the server is crowded, and the caller has its share of the connections.
     *
     * @param owner the name of the caller's API key
     */
    boolean belongsTo(String owner);

    /** Marks the connection as one of a program of this machine, while the server requires no API key. */
    void belongsToThisMachine();

    /** Returns a header's first value, or null if the request lacks the header. */
    @Nullable
    String header(String name);

    /**
     * Returns the query parameters by name.
     *
     * @throws Problem if a parameter occurs more than once, or the query is not percent-encoded correctly
     */
    Map<String, String> parameters();

    /**
     * Returns the body; empty if the request has none.
     *
     * @throws Problem if the body is larger than {@code maxBytes}, is incomplete, or finds no room in memory
     */
    byte[] body(int maxBytes);

    /**
     * Runs an action when the client closes the connection. The thread of the request must wait meanwhile, and read
     * nothing. Called once at most, and {@link #unwatch} must follow before the request is answered.
     */
    void whenClosed(Runnable action);

    /** Ends the effect of {@link #whenClosed}. */
    void unwatch();

    /** Returns the memory share for an answer with records that were read. */
    AnswerMemory.Share memory();

    /** Returns the memory share for an answer about many items that were written. */
    AnswerMemory.Share writeMemory();
  }

  Request(Incoming incoming, Map<String, String> variables, Caller caller, BooleanSupplier isCallerKnown) {
    this.incoming = incoming;
    this.variables = variables;
    this.caller = caller;
    this.isCallerKnown = isCallerKnown;
  }

  /** Returns whether the server would still admit the caller: its key may have been removed, or have expired. */
  boolean isCallerKnown() {
    return isCallerKnown.getAsBoolean();
  }

  /** Runs an action when the client closes the connection, while the thread of the request waits. */
  void whenClosed(Runnable action) {
    incoming.whenClosed(action);
  }

  /** Ends the effect of {@link #whenClosed}; must be called before the request is answered. */
  void unwatch() {
    incoming.unwatch();
  }

  Caller caller() {
    return caller;
  }

  /** Returns a variable of the path. */
  String variable(String name) {
    String value = variables.get(name);
    if (value == null) {
      throw new IllegalStateException("the path of the route lacks a variable that its handler reads: name=" + name);
    }
    return value;
  }

  /** Adds a field to the request's entry in the audit log, besides the variables of the path. */
  void audit(String name, String value) {
    audited.put(name, value);
  }

  /**
   * Returns the fields of the request for the audit log: the variables of the path, and the fields that the handler
   * added.
   */
  Map<String, String> audited() {
    Map<String, String> all = new LinkedHashMap<>(variables);
    all.putAll(audited);
    return all;
  }

  Set<String> parameterNames() {
    return incoming.parameters().keySet();
  }

  @Nullable
  String header(String name) {
    return incoming.header(name);
  }

  @Nullable
  String parameter(String name) {
    return incoming.parameters().get(name);
  }

  /** Returns the memory share for an answer with records that were read. */
  AnswerMemory.Share memory() {
    return incoming.memory();
  }

  /** Returns the memory share for an answer about many written items; it is separate from the share of reads. */
  AnswerMemory.Share writeMemory() {
    return incoming.writeMemory();
  }

  /** Returns the body of a call that reads JSON. Throws a problem if the request has a content type other than JSON. */
  byte[] json(int maxBytes) {
    String type = mediaType();
    if (type != null && !isJson(type)) {
      throw unsupported(type, "application/json");
    }
    return incoming.body(maxBytes);
  }

  /** Returns whether the body has one item on each line. Throws a problem for an unknown content type. */
  boolean isLines() {
    String type = mediaType();
    if (type == null || isJson(type)) {
      return false;
    }
    if (NDJSON_TYPES.contains(type)) {
      return true;
    }
    throw unsupported(type, "application/x-ndjson or application/json");
  }

  byte[] body(int maxBytes) {
    return incoming.body(maxBytes);
  }

  /** Ensures that the request has no body, or only an empty object. */
  void noBody(int maxBytes) {
    byte[] body = incoming.body(maxBytes);
    String text = new String(body, StandardCharsets.UTF_8).strip();
    if (!text.isEmpty() && !text.replaceAll("\\s", "").equals("{}")) {
      throw new Problem(ProblemKind.INVALID_REQUEST, "this call reads no body; send none");
    }
  }

  private @Nullable String mediaType() {
    String header = incoming.header("Content-Type");
    return header == null ? null : mediaType(header);
  }

  /** Returns a content type without its parameters. */
  static String mediaType(String contentType) {
    int semicolon = contentType.indexOf(';');
    return (semicolon < 0 ? contentType : contentType.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
  }

  /** Returns whether a media type is JSON. */
  static boolean isJson(String mediaType) {
    return mediaType.equals("application/json") || mediaType.equals("text/json") || mediaType.endsWith("+json");
  }

  /** Returns the problem of a body that is compressed. */
  public static Problem compressed(String encoding) {
    String shown = JsonIn.shown(encoding);
    return new Problem(ProblemKind.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding: expected a body without compression, but"
        + " got \"" + shown + "\"; send the body as it is, without this header").with("found", shown)
        .with("expected", "no Content-Encoding");
  }

  private static Problem unsupported(String found, String expected) {
    return new Problem(ProblemKind.UNSUPPORTED_MEDIA_TYPE, "Content-Type: expected " + expected
        + " (curl: -H 'Content-Type: application/json'), but got \"" + JsonIn.shown(found) + "\"").with("found",
            JsonIn.shown(found))
        .with("expected", expected);
  }
}
