package io.foliot.delivery.http;

import io.foliot.api.Body;
import io.foliot.core.Token;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.TaskRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hc.core5.http.message.BasicHttpRequest;
import org.apache.hc.core5.http.nio.AsyncRequestProducer;
import org.apache.hc.core5.http.nio.DataStreamChannel;
import org.apache.hc.core5.http.nio.entity.BasicAsyncEntityProducer;
import org.apache.hc.core5.http.nio.support.BasicRequestProducer;
import org.apache.hc.core5.net.URIAuthority;

/** Creates the HTTP request of an attempt. */
final class CallbackRequest {
  /** Format of an instant in a header: UTC with milliseconds. */
  private static final DateTimeFormatter MILLIS = new DateTimeFormatterBuilder().appendInstant(3).toFormatter(
      Locale.ROOT);
  /**
   * Length of the shortest secret that is masked in a detail, in characters. Masking a shorter one, such as a flag or a
   * number, would also mask unrelated text.
   */
  private static final int MIN_REDACTED = 8;
  /**
   * Size of the largest checkpoint that is sent, in bytes of UTF-8. Receivers limit all headers of a request together,
   * often to 8 KiB.
   */
  private static final int MAX_CHECKPOINT = 2 << 10;

  /** Words that show that a header is secret: its name contains one of them. */
  private static final List<String> SENSITIVE = List.of("auth", "cookie", "token", "secret", "key", "password");

  /** Separators of the parts of a header's value, such as a scheme and a token, or the cookies of a session. */
  private static final Pattern PARTS = Pattern.compile("[ ,;=]+");

  private CallbackRequest() {}

  /**
   * Creates the request.
   *
   * @param wallMillis the current time, for the timestamp, in milliseconds since 1970
   * @param onSent runs each time the client asks for a part of the body, which it does only after it has passed the
   *     head to a connection
   */
  static AsyncRequestProducer of(DeliveryAttempt attempt, HttpTarget target, String userAgent, long wallMillis,
      Runnable onSent) {
    TaskRecord task = attempt.task();
    Body body = task.body();
    CallbackUrl url = target.url();
    BasicHttpRequest request = new BasicHttpRequest("POST", url.secure() ? "https" : "http",
        new URIAuthority(url.host(), url.shownPort()), url.path());
    for (Map.Entry<String, String> header : body.headers().entrySet()) {
      String name = header.getKey().toLowerCase(Locale.ROOT);
      if (HeaderText.isFree(name)) {
        request.addHeader(name, HeaderText.value(header.getValue()));
      }
    }
    String firing = attempt.firingId();
    String timestamp = Long.toString(Math.floorDiv(wallMillis, 1_000));
    if (!body.contentType().isBlank()) {
      request.addHeader("content-type", HeaderText.value(body.contentType()));
    }
    request.addHeader("webhook-id", firing);
    request.addHeader("webhook-timestamp", timestamp);
    WebhookSigner signer = target.signer();
    if (signer != null) {
      request.addHeader("webhook-signature", signer.sign(firing, timestamp, body.payload()));
    }
    addTask(request, task);
    request.addHeader("traceparent", HeaderText.value(attempt.traceparent()));
    request.addHeader("user-agent", userAgent);
    return new BasicRequestProducer(request, new BasicAsyncEntityProducer(body.payload(), null)) {
      @Override
      public void produce(DataStreamChannel channel) throws IOException {
        onSent.run();
        super.produce(channel);
      }
    };
  }

  private static void addTask(BasicHttpRequest request, TaskRecord task) {
    request.addHeader("foliot-task-id", task.id().toString());
    request.addHeader("foliot-queue", task.queue());
    String key = task.key();
    if (key != null) {
      request.addHeader("foliot-key", HeaderText.key(key));
    }
    request.addHeader("foliot-generation", Long.toString(task.generation()));
    request.addHeader("foliot-attempt", Integer.toString(task.attempt()));
    request.addHeader("foliot-due-at", MILLIS.format(Instant.ofEpochMilli(task.dueAt())));
    Token token = task.token();
    if (token != null) {
      request.addHeader("foliot-lease-token", token.toString());
    }
    String checkpoint = task.note().checkpoint();
    if (checkpoint != null) {
      byte[] bytes = checkpoint.getBytes(StandardCharsets.UTF_8);
      if (bytes.length <= MAX_CHECKPOINT) {
        request.addHeader("foliot-checkpoint", Base64.getEncoder().encodeToString(bytes));
      }
    }
  }

  /**
   * Returns the secrets in the request's headers, which must not appear in a detail. A receiver may repeat a value in
   * several forms: as it was sent, decoded, or only a part, such as the token without {@code Bearer}. The list has all
   * forms that have at least {@link #MIN_REDACTED} characters. Whole values come before parts.
   */
  static List<String> secrets(DeliveryAttempt attempt) {
    Set<String> secrets = new LinkedHashSet<>();
    List<String> parts = new ArrayList<>();
    Token token = attempt.task().token();
    if (token != null) {
      secrets.add(token.toString());
    }
    attempt.task().body().headers().forEach((name, value) -> {
      String lower = name.toLowerCase(Locale.ROOT);
      if (SENSITIVE.stream().anyMatch(lower::contains)) {
        for (String form : List.of(value, HeaderText.value(value))) {
          secrets.add(HeaderText.oneLine(form));
          parts.addAll(List.of(PARTS.split(HeaderText.oneLine(form))));
        }
      }
    });
    parts.sort(Comparator.comparingInt(String::length).reversed());
    secrets.addAll(parts);
    secrets.removeIf(secret -> secret.length() < MIN_REDACTED);
    return List.copyOf(secrets);
  }
}
