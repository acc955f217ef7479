package io.foliot.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The server's reason for a refusal, in the form of RFC 9457.
 *
 * @param type the URI that names the kind of problem; {@code about:blank} if the answer has only a status
 * @param title the kind of problem, as a human-readable text
 * @param status the HTTP status
 * @param detail the cause in this case and the remedy, as a human-readable text; null for none
 * @param members the further members of the problem that are strings, such as {@code field} or {@code queue}
 */
public record RefusedTask(String type, String title, int status, @Nullable String detail, Map<String, String> members)
    implements
      BatchResult {
  private static final Set<String> STANDARD = Set.of("type", "title", "detail", "instance");

  public RefusedTask {
    members = Map.copyOf(members);
  }

  /** Returns the problem in an answer, or a problem with only the status if the answer has another form. */
  static RefusedTask ofAnswer(int status, byte[] body) {
    try {
      List<JsonObject> roots = JsonObject.parseAll(body);
      if (roots.size() == 1) {
        return of(status, roots.getFirst());
      }
    } catch (UnreadableAnswerException e) {
      // A proxy between the client and the server may have answered with an HTML page.
    }
    return of(status, JsonObject.EMPTY);
  }

  /** Returns the problem of one task of a batch. */
  static RefusedTask ofItem(JsonObject json) {
    return of(json.integer("status"), json);
  }

  private static RefusedTask of(int status, JsonObject json) {
    String type = json.textOrNull("type");
    String title = json.textOrNull("title");
    return new RefusedTask(type == null ? "about:blank" : type, title == null ? "HTTP status " + status : title, status,
        json.textOrNull("detail"), members(json));
  }

  private static Map<String, String> members(JsonObject json) {
    Map<String, String> members = new LinkedHashMap<>();
    for (String name : json.names()) {
      if (!STANDARD.contains(name) && json.isText(name)) {
        members.put(name, json.text(name));
      }
    }
    return members;
  }
}
