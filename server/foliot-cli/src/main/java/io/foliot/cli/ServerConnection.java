package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.RetryPolicy;
import io.foliot.client.UnknownOutcomeException;
import io.foliot.client.UnreachableException;
import io.foliot.server.config.Defaults;
import io.foliot.server.text.Nearest;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a command to a server. Calls go through {@link FoliotClient}, or directly over HTTP, for example if
 * the command shows the response unchanged or if the client lacks the call. A failed call throws a
 * {@link CommandException}, except in {@link #send}.
 */
final class ServerConnection implements AutoCloseable {
  static final String URL_VARIABLE = "FOLIOT_URL";
  static final String KEY_VARIABLE = "FOLIOT_API_KEY";
  /** Names a file of certificates (PEM) that prove the server's identity, in place of those of the JDK. */
  static final String AUTHORITIES_VARIABLE = "FOLIOT_CA";

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(35);

  /** Calls that messages of the server name, and the commands that make them. */
  private static final Map<String, String> COMMANDS = Map.of("GET /v1/queues", "foliot queues", "POST /v1/keys",
      "foliot keys create", "GET /v1/keys", "foliot keys", "GET /v1/jobs/{job}/runs", "foliot jobs runs JOB",
      "?move=true",
      "--move");

  private final String url;
  private final String apiKey;
  private final HttpClient http;
  private final FoliotClient client;

  private ServerConnection(String url, String apiKey, String authorities) {
    this.url = url.replaceFirst("/+$", "");
    this.apiKey = apiKey;
    URI address;
    try {
      address = new URI(this.url);
    } catch (URISyntaxException e) {
      throw CommandException.usage("the server's address, from --url or " + URL_VARIABLE + ": expected a URL such as \""
          + Defaults.URL + "\", but got \"" + Shell.plain(url) + '"');
    }
    http = httpClient(this.url.startsWith("https:"), authorities);
    try {
      FoliotClient.Builder builder = FoliotClient.builder(address).httpClient(http)
          .requestTimeout(ANSWER_TIMEOUT)
          // The user sees the failure and decides whether to repeat the command. During silent retries, the command
          // would appear to hang.
          .retry(RetryPolicy.none());
      if (!apiKey.isEmpty()) {
        builder.apiKey(apiKey);
      }
      client = builder.build();
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(e.getMessage() + "; the server's address is set by --url or " + URL_VARIABLE
          + ", its key by " + KEY_VARIABLE);
    }
  }

  private static HttpClient httpClient(boolean secure, String authorities) {
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(CONNECT_TIMEOUT).followRedirects(HttpClient.Redirect.NEVER);
    // A connection over plain HTTP needs no certificates. The default context would read all certificates of the JDK,
    // which takes longer than the rest of a command.
    if (!secure) {
      builder.sslContext(trusting(new TrustManager[0]));
    } else if (!authorities.isEmpty()) {
      builder.sslContext(trusting(managers(authorities)));
    }
    return builder.build();
  }

  private static SSLContext trusting(TrustManager[] managers) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has TLS", e);
    }
  }

  private static TrustManager[] managers(String file) {
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        trusted.setCertificateEntry("authority-" + trusted.size(), each);
      }
      if (trusted.size() == 0) {
        throw new CertificateException("it has no certificate");
      }
      TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(trusted);
      return factory.getTrustManagers();
    } catch (IOException | InvalidPathException | GeneralSecurityException e) {
      throw CommandException.usage(AUTHORITIES_VARIABLE + ": expected a file of certificates (PEM), but got \""
          + Shell.plain(file) + "\": " + e);
    }
  }

  /**
   * Returns a connection to the server that the user has named.
   *
   * @param url the URL on the command line; if null, the URL is that of the environment or, if the environment has
   *     none, the default
   */
  static ServerConnection of(@Nullable String url, Shell shell) {
    String address = url != null ? url : shell.variable(URL_VARIABLE);
    return new ServerConnection(address.isEmpty() ? Defaults.URL : withScheme(address), shell.variable(KEY_VARIABLE),
        shell.variable(AUTHORITIES_VARIABLE));
  }

  /** Returns an address with a scheme. An address that has no scheme gets http. */
  static String withScheme(String address) {
    return address.contains("://") ? address : "http://" + address;
  }

  /** Returns a connection to the server at an address, without an API key. */
  static ServerConnection at(String url) {
    return new ServerConnection(url, "", "");
  }

  /** Returns the server's address, without a slash at the end. */
  String url() {
    return url;
  }

  /** Returns a name, encoded as one segment of a path. */
  static String segment(String name) {
    String encoded = URLEncoder.encode(name, UTF_8).replace("+", "%20");
    return encoded.equals(".") || encoded.equals("..") ? encoded.replace(".", "%2E") : encoded;
  }

  /** Makes a call that returns a result. */
  <T> T call(Function<FoliotClient, T> request) {
    try {
      return request.apply(client);
    } catch (FoliotException e) {
      throw CommandException.failure(refusal(e.status(), e.problem().type(), e.problem().title(),
          e.problem().detail(), noun -> e.problem().members().get(noun)), e);
    } catch (UnreachableException e) {
      throw unreachable(e);
    } catch (UnknownOutcomeException e) {
      throw CommandException.failure(e.getMessage() + ". Read the task or the queue before you repeat it", e);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  /** Makes a call that returns nothing. */
  void run(Consumer<FoliotClient> request) {
    call(it -> {
      request.accept(it);
      return true;
    });
  }

  /** Sends a request with the API key, and returns the response, whatever its status. */
  HttpResponse<String> send(HttpRequest.Builder request, Duration timeout) throws IOException {
    if (!apiKey.isEmpty()) {
      request.header("Authorization", "Bearer " + apiKey);
    }
    try {
      return http.send(request.timeout(timeout).build(), HttpResponse.BodyHandlers.ofString(UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Returns the body of a GET, as the server wrote it. */
  String get(String path) {
    return text(HttpRequest.newBuilder(URI.create(url + path)).GET(), ANSWER_TIMEOUT);
  }

  /** Returns the metrics of the server, as text. */
  String metrics() {
    return body(answer(HttpRequest.newBuilder(URI.create(url + "/metrics")).GET(), ANSWER_TIMEOUT));
  }

  /** Sends a POST of JSON, and returns the body of the response. */
  String post(String path, String json, Duration timeout) {
    return text(HttpRequest.newBuilder(URI.create(url + path)).header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(json)), timeout);
  }

  /** Sends a PUT of JSON, and returns the body of the response. */
  String put(String path, String json, Duration timeout) {
    return text(HttpRequest.newBuilder(URI.create(url + path)).header("Content-Type", "application/json")
        .PUT(HttpRequest.BodyPublishers.ofString(json)), timeout);
  }

  /** Sends a PATCH of JSON, and returns the body of the response. */
  String patch(String path, String json, Duration timeout) {
    return text(HttpRequest.newBuilder(URI.create(url + path)).header("Content-Type", "application/json")
        .method("PATCH", HttpRequest.BodyPublishers.ofString(json)), timeout);
  }

  /** Sends a POST of JSON lines, and returns the lines of the response. */
  List<JsonView> postLines(String path, String lines, Duration timeout) {
    return text(HttpRequest.newBuilder(URI.create(url + path)).header("Content-Type", "application/x-ndjson")
        .POST(HttpRequest.BodyPublishers.ofString(lines)), timeout).lines().map(JsonView::parse).toList();
  }

  /** Sends a DELETE. */
  void delete(String path) {
    text(HttpRequest.newBuilder(URI.create(url + path)).DELETE(), ANSWER_TIMEOUT);
  }

  /** Returns the body of a GET, as the server wrote it; empty if the status is 404. */
  String getIfAny(String path) {
    HttpResponse<String> answer = answer(HttpRequest.newBuilder(URI.create(url + path)).GET(), ANSWER_TIMEOUT);
    return answer.statusCode() == 404 ? "" : json(answer);
  }

  /** Returns the body of a GET, as the server wrote it; empty if nothing is there, or the key may not read it. */
  String getIfAllowed(String path) {
    HttpResponse<String> answer = answer(HttpRequest.newBuilder(URI.create(url + path)).GET(), ANSWER_TIMEOUT);
    return answer.statusCode() == 404 || answer.statusCode() == 403 ? "" : json(answer);
  }

  private String text(HttpRequest.Builder request, Duration timeout) {
    return json(answer(request, timeout));
  }

  private HttpResponse<String> answer(HttpRequest.Builder request, Duration timeout) {
    try {
      return send(request, timeout);
    } catch (ConnectException | HttpConnectTimeoutException | SSLHandshakeException e) {
      throw unreachable(e);
    } catch (IOException e) {
      throw CommandException.failure("no usable response came from " + url + " (" + e.getMessage() + ")", e);
    }
  }

  private String body(HttpResponse<String> answer) {
    if (answer.statusCode() / 100 != 2) {
      JsonView problem = JsonView.parse(answer.body());
      throw CommandException.failure(refusal(answer.statusCode(), problem.at("type").text(""),
          problem.at("title").text("HTTP status " + answer.statusCode()), problem.at("detail").text(""),
          noun -> problem.at(noun).text("")));
    }
    return answer.body();
  }

  /** Returns the JSON of a successful response; fails if another program than a Foliot server has sent it. */
  private String json(HttpResponse<String> answer) {
    String body = body(answer);
    if (!answer.headers().firstValue("Content-Type").orElse("").contains("json")) {
      throw CommandException.failure(url + " answers, but not as a Foliot server does: it sent "
          + answer.headers().firstValue("Content-Type").map(Shell::plain).orElse("no content type")
          + " where JSON was expected; is the address right (--url, " + URL_VARIABLE + ")?");
    }
    return body;
  }

  /**
   * Returns the message of a refusal, with commands in place of calls of the API. The detail of a refused request says
   * everything that its title says; the title of any other problem adds the outcome of the call.
   */
  private String refusal(int status, String type, String title, @Nullable String detail,
      Function<String, @Nullable String> members) {
    String known = switch (type.substring(type.lastIndexOf(':') + 1)) {
      case "unknown-queue" -> creation(members, "queue", "queues put %s --to URL (or --pull)");
      case "unknown-job" -> unknownJob(members.apply("job"));
      case "unknown-calendar" -> creation(members, "calendar", "calendars put %s SAT SUN");
      case "unknown-worker" -> "no live worker has the name " + Shell.plain(String.valueOf(members.apply("worker")))
          + "; foliot workers lists the live workers; a worker is listed a second or two after its first claim";
      case "invalid-field" -> "schedule.exclude".equals(members.apply("field"))
          ? shown(String.valueOf(detail)) + knownCalendars()
          : null;
      default -> null;
    };
    if (known != null) {
      return known;
    }
    if (status == 401) {
      return apiKey.isEmpty()
          ? title + ": set " + KEY_VARIABLE + " to a key of this server"
          : shown(detail == null ? "the server refused the key" : detail) + " (the key comes from " + KEY_VARIABLE
              + ")";
    }
    if (detail == null || detail.isEmpty()) {
      return title + ": " + url + " is perhaps not a Foliot server (--url, " + URL_VARIABLE + ")";
    }
    return (status < 500 ? "" : title + ": ") + shown(detail);
  }

  /** Returns a text of the server for the terminal, with commands in place of calls of the API. */
  private static String shown(String text) {
    String shown = Shell.plain(text);
    for (Map.Entry<String, String> call : COMMANDS.entrySet()) {
      shown = shown.replace(call.getKey(), call.getValue());
    }
    return shown;
  }

  /** Returns the end of a message about a calendar that does not exist. */
  private String knownCalendars() {
    List<String> known = JsonView.parse(getIfAllowed("/v1/calendars")).at("calendars").items().stream()
        .map(calendar -> calendar.at("calendar").text()).toList();
    return known.isEmpty()
        ? "; there are no calendars, and foliot calendars put creates one"
        : "; known are " + Shell.plain(String.join(", ", known));
  }

  /** Returns a message that names the missing job, and the job of the server that was probably meant. */
  private @Nullable String unknownJob(@Nullable String name) {
    if (name == null || name.isEmpty()) {
      return null;
    }
    List<String> known = JsonView.parse(getIfAny("/v1/jobs?limit=1000")).at("jobs").items().stream()
        .map(job -> job.at("job").text()).toList();
    String nearest = Nearest.of(name, known);
    return "there is no job " + Shell.plain(name) + (nearest != null
        ? ": did you mean " + Shell.plain(nearest) + "?"
        : "; foliot jobs lists the jobs, foliot jobs put " + Shell.plain(name)
            + " --queue QUEUE --cron \"0 2 * * *\" creates it");
  }

  /**
   * Returns a message that names the missing object and the command that creates it; null if the response does not name
   * the object.
   */
  private static @Nullable String creation(Function<String, @Nullable String> members, String noun, String command) {
    String name = members.apply(noun);
    if (name == null || name.isEmpty()) {
      return null;
    }
    String shown = Shell.plain(name);
    return "there is no " + noun + ' ' + shown + "; create it first: foliot " + command.replace("%s", shown);
  }

  private CommandException unreachable(Exception cause) {
    if (cause instanceof SSLHandshakeException || cause.getCause() instanceof SSLHandshakeException) {
      return CommandException.failure("the certificate of " + url + " is not trusted, or TLS failed otherwise: set "
          + AUTHORITIES_VARIABLE + " to a file (PEM) with the certificate of its authority, and use a name that the"
          + " certificate has (" + Shell.plain(String.valueOf(cause.getMessage())) + ")", cause);
    }
    return CommandException.failure(isLocal()
        ? "nothing answers at " + url + ": start a server with ./foliot server"
        : "nothing answers at " + url + ": is the address right (--url, " + URL_VARIABLE + "), and the server up?",
        cause);
  }

  private boolean isLocal() {
    try {
      return InetAddress.getByName(URI.create(url).getHost()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  @Override
  public void close() {
    client.close();
    http.shutdownNow();
  }
}
