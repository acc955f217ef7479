package io.foliot.history;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes an event as a line of text and decodes it. Tabs separate the fields. The last field is a dot. A line without
 * this dot is incomplete, as after a kill of its writer.
 */
final class EventLine {
  private static final String SEPARATOR = "\t";
  private static final String END = "\t.";

  /** Text of a field that is null. {@link #escape} never returns this text. */
  private static final String NULL = "\\N";

  private EventLine() {}

  static boolean isWhole(String line) {
    return line.endsWith(END);
  }

  static String encode(Event event) {
    List<String> fields = new ArrayList<>();
    add(fields, event.atMillis());
    switch (event) {
      case Event.Invoked invoked -> {
        add(fields, "invoked", invoked.op());
        encode(invoked.request(), fields);
      }
      case Event.Answered answered -> {
        add(fields, "answered", answered.op());
        encode(answered.reply(), fields);
      }
      case Event.Began began -> {
        Attempt a = began.attempt();
        add(fields, "began", began.delivery(), a.taskId(), a.queue(), a.key(), a.generation(), a.firingId(),
            a.attempt(), a.dueAtMillis());
      }
      case Event.Replied replied -> add(fields, "replied", replied.delivery(), replied.reception());
      case Event.FaultBegan fault -> add(fields, "fault", fault.window(), fault.fault(), fault.what());
      case Event.FaultEnded fault -> add(fields, "healed", fault.window());
      case Event.Forgot forgot -> add(fields, "forgot", forgot.fromMillis());
      case Event.RunEnded end -> add(fields, "end");
    }
    return String.join(SEPARATOR, fields) + END;
  }

  private static void encode(Request request, List<String> fields) {
    switch (request) {
      case Request.Submit submit -> add(fields, "submit", submit.queue(), submit.key(), submit.notBeforeMillis(),
          submit.onConflict(), submit.idempotencyKey());
      case Request.Reset reset -> add(fields, "reset", reset.queue(), reset.key(), reset.notBeforeMillis());
      case Request.Touch touch -> add(fields, "touch", touch.queue(), touch.key(), touch.notBeforeMillis());
      case Request.Cancel cancel -> {
        fields.add("cancel");
        encode(cancel.target(), fields);
      }
      case Request.RunNow run -> {
        fields.add("run");
        encode(run.target(), fields);
      }
      case Request.Redrive redrive -> add(fields, "redrive", redrive.queue(), redrive.taskId());
      case Request.Read read -> {
        fields.add("read");
        encode(read.target(), fields);
      }
    }
  }

  private static void encode(Target target, List<String> fields) {
    switch (target) {
      case Target.Task task -> add(fields, "task", task.taskId());
      case Target.Key key -> add(fields, "key", key.queue(), key.key());
    }
  }

  private static void encode(Reply reply, List<String> fields) {
    switch (reply) {
      case Reply.Placed placed ->
        add(fields, "placed", placed.result(), placed.taskId(), placed.generation(), placed.dueAtMillis());
      case Reply.Cancelled cancelled -> add(fields, "cancel", cancelled.result(), cancelled.generation());
      case Reply.Found found -> add(fields, "found", found.taskId(), found.generation(), found.state());
      case Reply.NotFound notFound -> fields.add("notFound");
      case Reply.Done done -> fields.add("done");
      case Reply.Failed failed -> add(fields, "failed", failed.reason());
      case Reply.Unknown unknown -> add(fields, "unknown", unknown.reason());
    }
  }

  private static void add(List<String> fields, @Nullable Object... values) {
    for (Object value : values) {
      fields.add(value == null ? NULL : escape(value.toString()));
    }
  }

  /**
   * Decodes a whole line.
   *
   * @throws IllegalArgumentException if the line is not an event
   * @throws ArithmeticException if the number of an attempt is not an int
   */
  static Event decode(String line) {
    Fields fields = new Fields(line);
    long at = fields.number();
    Event event = switch (fields.text()) {
      case "invoked" -> new Event.Invoked(fields.number(), at, request(fields));
      case "answered" -> new Event.Answered(fields.number(), at, reply(fields));
      case "began" -> new Event.Began(fields.number(), at, new Attempt(fields.text(), fields.text(),
          fields.textOrNull(), fields.number(), fields.text(), Math.toIntExact(fields.number()), fields.number()));
      case "replied" ->
        new Event.Replied(fields.number(), at, Event.Reception.valueOf(fields.text()));
      case "fault" ->
        new Event.FaultBegan(fields.number(), at, Event.Fault.valueOf(fields.text()), fields.text());
      case "healed" -> new Event.FaultEnded(fields.number(), at);
      case "forgot" -> new Event.Forgot(at, fields.number());
      case "end" -> new Event.RunEnded(at);
      default -> throw new IllegalArgumentException("unknown event");
    };
    fields.ensureEnd();
    return event;
  }

  private static Request request(Fields fields) {
    return switch (fields.text()) {
      case "submit" -> new Request.Submit(fields.text(), fields.textOrNull(), fields.number(),
          Request.OnConflict.valueOf(fields.text()), fields.textOrNull());
      case "reset" -> new Request.Reset(fields.text(), fields.text(), fields.number());
      case "touch" -> new Request.Touch(fields.text(), fields.text(), fields.number());
      case "cancel" -> new Request.Cancel(target(fields));
      case "run" -> new Request.RunNow(target(fields));
      case "redrive" -> new Request.Redrive(fields.text(), fields.textOrNull());
      case "read" -> new Request.Read(target(fields));
      default -> throw new IllegalArgumentException("unknown request");
    };
  }

  private static Target target(Fields fields) {
    return switch (fields.text()) {
      case "task" -> new Target.Task(fields.text());
      case "key" -> new Target.Key(fields.text(), fields.text());
      default -> throw new IllegalArgumentException("unknown target");
    };
  }

  private static Reply reply(Fields fields) {
    return switch (fields.text()) {
      case "placed" -> new Reply.Placed(Reply.Result.valueOf(fields.text()), fields.text(), fields.number(),
          fields.number());
      case "cancel" -> new Reply.Cancelled(Reply.CancelResult.valueOf(fields.text()), fields.number());
      case "found" -> new Reply.Found(fields.text(), fields.number(), Reply.State.valueOf(fields.text()));
      case "notFound" -> new Reply.NotFound();
      case "done" -> new Reply.Done();
      case "failed" -> new Reply.Failed(fields.text());
      case "unknown" -> new Reply.Unknown(fields.text());
      default -> throw new IllegalArgumentException("unknown reply");
    };
  }

  private static String escape(String text) {
    if (text.equals(".")) { // such a field would make an incomplete line appear whole
      return "\\.";
    }
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
  }

  private static String unescape(String field) {
    if (field.indexOf('\\') < 0) {
      return field;
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < field.length(); i++) {
      char c = field.charAt(i);
      if (c == '\\' && i + 1 < field.length()) {
        char next = field.charAt(++i);
        c = switch (next) {
          case 't' -> '\t';
          case 'n' -> '\n';
          case 'r' -> '\r';
          default -> next;
        };
      }
      text.append(c);
    }
    return text.toString();
  }

  private static final class Fields {
    private final Iterator<String> fields;

    Fields(String line) {
      fields = List.of(line.split(SEPARATOR, -1)).iterator();
    }

    private String next() {
      if (!fields.hasNext()) {
        throw new IllegalArgumentException("too few fields");
      }
      return fields.next();
    }

    String text() {
      String text = textOrNull();
      if (text == null) {
        throw new IllegalArgumentException("a field must not be null");
      }
      return text;
    }

    @Nullable
    String textOrNull() {
      String field = next();
      return field.equals(NULL) ? null : unescape(field);
    }

    long number() {
      return Long.parseLong(next());
    }

    void ensureEnd() {
      if (!next().equals(".") || fields.hasNext()) {
        throw new IllegalArgumentException("too many fields");
      }
    }
  }
}
