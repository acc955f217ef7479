package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.server.api.AnswerMemory;
import io.foliot.server.api.Api;
import io.foliot.server.api.Bodies;
import io.foliot.server.api.Problem;
import io.foliot.server.api.ProblemKind;
import io.foliot.server.api.Reply;
import io.foliot.server.api.Request;
import io.foliot.server.metrics.HttpTimings;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.uri.UriQuery;
import io.helidon.http.DirectHandler;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.RequestException;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ErrorHandling;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The web server in front of the API: connections, bodies, headers. Each request has a virtual thread, which may block.
 */
final class HttpListener implements AutoCloseable {
  /** Longest first line of a request, in bytes. It has room for the longest key, percent-encoded. */
  private static final int MAX_FIRST_LINE = 4 << 10;
  private static final int MAX_HEADERS_BYTES = 16 << 10;
  /** Longest unread body, in bytes, that is skipped. If the unread body is longer, the connection is closed. */
  private static final int MAX_SKIPPED_BYTES = 64 << 10;
  /** Longest time for which a stop of Helidon waits for requests under way. */
  private static final Duration LAST_GRACE = Duration.ofMillis(500);

  /** Beginning of the message that Helidon gives in place of one that may contain a part of the request. */
  private static final String UNSAFE = "Bad request, see server log";

  private static final Header JSON = HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/json");
  private static final Header NO_SNIFF = HeaderValues.createCached("X-Content-Type-Options", "nosniff");
  private static final Header NO_STORE = HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store");
  private static final HeaderName IDEMPOTENCY_KEY = HeaderNames.create("Idempotency-Key");
  private static final Map<String, HeaderName> NAMES = Map.of("Authorization", HeaderNames.AUTHORIZATION, "Host",
      HeaderNames.HOST, "Origin", HeaderNames.ORIGIN, "Content-Type", HeaderNames.CONTENT_TYPE, "Idempotency-Key",
      IDEMPOTENCY_KEY);

  private final Api api;
  private final Memory memory;
  private final HttpTimings timings;
  private final AtomicInteger underWay = new AtomicInteger();
  private final int maxConnections;
  private final Consumer<Throwable> onFailure;
  private final HttpConnections connections;
  private final WebServer server;

  /**
   * The settings of the listener.
   *
   * @param address the host and port
   * @param maxBodyBytes the largest body of any call, in bytes
   * @param maxConnections the largest number of open connections
   * @param clientTimeout the longest wait for a client, see {@link HttpConnections}
   */
  record Frame(InetSocketAddress address, int maxBodyBytes, int maxConnections, Duration clientTimeout) {}

  /**
   * The memory that requests under way may use.
   *
   * @param bodies the memory of request bodies
   * @param reads the memory of answers to reads
   * @param writes the memory of answers to writes
   */
  record Memory(Bodies bodies, AnswerMemory reads, AnswerMemory writes) {}

  /**
   * Starts to listen.
   *
   * @param onFailure receives failures after which the process cannot continue
   * @throws StartException if the address cannot be bound
   */
  HttpListener(Frame frame, Api api, Memory memory, HttpTimings timings, Consumer<Throwable> onFailure) {
    maxConnections = frame.maxConnections;
    this.onFailure = onFailure;
    connections = new HttpConnections(Http1Config.builder().maxPrologueLength(MAX_FIRST_LINE)
        .maxHeadersSize(MAX_HEADERS_BYTES).continueImmediately(false), frame.maxConnections, frame.clientTimeout);
    this.api = api;
    this.memory = memory;
    this.timings = timings;
    server = WebServer.builder()
        .bindAddress(frame.address)
        .maxPayloadSize(frame.maxBodyBytes)
        .maxTcpConnections(frame.maxConnections)
        .shutdownHook(false)
        .shutdownGracePeriod(LAST_GRACE)
        .idleConnectionTimeout(connections.closesAfter())
        .idleConnectionPeriod(connections.checksEvery())
        .connectionOptions(options -> options.tcpNoDelay(true))
        .protocolsDiscoverServices(false)
        .featuresDiscoverServices(false)
        .addConnectionSelector(connections)
        .directHandlers(refusals())
        .errorHandling(ErrorHandling.builder().includeEntity(true).build())
        .routing(HttpRouting.builder().any(this::handle))
        .build();
    try {
      server.start();
    } catch (RuntimeException e) {
      throw cannotBind(frame.address, e);
    }
  }

  /**
   * Checks whether the server can listen on an address, before anything else is started.
   *
   * @throws StartException if it cannot
   */
  static void ensureFree(InetSocketAddress address) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(address);
    } catch (IOException e) {
      throw cannotBind(address, e);
    }
  }

  private static StartException cannotBind(InetSocketAddress address, Exception e) {
    String host = address.getHostString();
    return String.valueOf(e.getMessage()).contains("in use")
        ? new StartException(StartException.Reason.PORT_IN_USE, "port " + address.getPort() + " of " + host
            + " is in use: another Foliot or another program listens there. Stop it, or choose another port with --port"
            + " (server.port, FOLIOT_SERVER_PORT)", e)
        : new StartException(StartException.Reason.CANNOT_BIND, "the address " + host + ":" + address.getPort()
            + " cannot be bound: " + e.getMessage() + ". Choose an address of this machine with --host"
            + " (server.host), and with --port a port that this user may use", e);
  }

  // Answers to requests that Helidon refuses before they reach the API.
  private static DirectHandlers refusals() {
    DirectHandlers.Builder builder = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      builder.addHandler(type, HttpListener::refuse);
    }
    return builder.build();
  }

  private static DirectHandler.TransportResponse refuse(DirectHandler.TransportRequest request,
      DirectHandler.EventType type, Status status, ServerResponseHeaders headers, String message) {
    Problem problem = switch (status.code()) {
      case 413 -> tooLarge();
      case 414, 431 -> new Problem(ProblemKind.INVALID_REQUEST,
          "the first line has at most " + MAX_FIRST_LINE + " bytes, all headers together " + MAX_HEADERS_BYTES);
      case 503 ->
        new Problem(ProblemKind.OVERLOADED, "too many concurrent requests; nothing was done, try again later");
      // If there is no method, the bytes that arrived are not an HTTP request.
      case 500 -> request.method().isEmpty()
          ? new Problem(ProblemKind.INVALID_REQUEST, "the request is not valid HTTP")
          : new Problem(ProblemKind.INTERNAL, "the cause is in the server's log; please report it");
      default -> request.headers().first(HeaderNames.CONTENT_ENCODING).map(Request::compressed)
          .orElseGet(() -> new Problem(ProblemKind.INVALID_REQUEST, "the request is not valid HTTP" + reason(request,
              message)));
    };
    Reply reply = problem.reply();
    headers.set(HeaderValues.create(HeaderNames.CONTENT_TYPE, reply.contentType()));
    return DirectHandler.TransportResponse.builder().status(Status.create(reply.status())).headers(headers)
        .keepAlive(false).entity(new String(reply.body(), UTF_8)).build();
  }

  private static String reason(DirectHandler.TransportRequest request, @Nullable String message) {
    if (message != null && !message.startsWith(UNSAFE)) {
      return ": " + message;
    }
    return request.path().contains("%")
        ? ": expected two hexadecimal digits after each percent sign of the path"
        : "";
  }

  private static Problem tooLarge() {
    return new Problem(ProblemKind.TOO_LARGE,
        "the body is larger than the server accepts for any call (limits.batch-body); send less in one call");
  }

  private void handle(ServerRequest request, ServerResponse response) {
    long begun = System.nanoTime();
    underWay.incrementAndGet();
    try (Bodies.Share body = memory.bodies.share();
        AnswerMemory.Share reads = memory.reads.share();
        AnswerMemory.Share writes = memory.writes.share()) {
      String method = request.prologue().method().text();
      Arriving arriving = new Arriving(request, connections.current(), body, reads, writes);
      Api.Answer answer = api.answer(method, request.prologue().uriPath().rawPath(), request.remotePeer().host(),
          arriving);
      After after = after(request, arriving);
      reads.sends(answer.reply().body().length);
      writes.sends(answer.reply().body().length);
      boolean isWritten = false;
      try {
        send(response, answer.reply(), method, after);
        isWritten = true;
      } finally {
        answer.reply().sent(isWritten);
        timings.record(answer.route(), answer.reply().status(), System.nanoTime() - begun);
      }
      switch (after) {
        case KEEP -> {
          // Helidon skips the unread rest of a short body, and reads the next request.
        }
        case CLOSE -> throw new CloseConnectionException("the client requested it");
        case CLOSE_UNREAD -> throw new HttpConnections.UnreadRequestException();
      }
    } catch (Error e) {
      if (CoreThreads.isFatal(e)) {
        onFailure.accept(e);
      }
      throw e;
    } finally {
      underWay.decrementAndGet();
    }
  }

  /** The next step of a connection after an answer. */
  private enum After {
    KEEP, CLOSE, CLOSE_UNREAD
  }

  /**
   * Returns whether to keep or to close the connection. It is kept only if the server knows where the next request
   * begins. This is unknown in two cases. A client that sent {@code Expect} may or may not send the body that was not
   * read. And a body that is broken or too long was read only in part. The connection is also closed if the client
   * requested that, if its owner has too many, if the server is stopping, or if the unread body is longer than {@link
   * #MAX_SKIPPED_BYTES} or has no declared length.
   */
  private After after(ServerRequest request, Arriving arriving) {
    if (arriving.isUnread()) {
      long length = request.headers().contains(HeaderNames.TRANSFER_ENCODING)
          ? Long.MAX_VALUE
          : request.headers().contentLength().orElse(Long.MAX_VALUE);
      if (length > MAX_SKIPPED_BYTES || arriving.isBegun() || request.headers().contains(HeaderNames.EXPECT)) {
        return After.CLOSE_UNREAD;
      }
    }
    return arriving.isRefused || api.isLeaving() || request.headers().containsToken(HeaderValues.CONNECTION_CLOSE)
        ? After.CLOSE
        : After.KEEP;
  }

  private static void send(ServerResponse response, Reply reply, String method, After after) {
    response.status(Status.create(reply.status()));
    response.header(reply.contentType().equals("application/json")
        ? JSON
        : HeaderValues.create(HeaderNames.CONTENT_TYPE, reply.contentType()));
    response.header(NO_SNIFF);
    response.header(NO_STORE);
    if (!reply.headers().isEmpty()) {
      reply.headers().forEach((name, value) -> response.header(HeaderValues.create(name, value)));
    }
    if (after != After.KEEP) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    if (method.equals("HEAD")) {
      response.send();
    } else {
      response.send(reply.body());
    }
  }

  /** A request that Helidon provides. Used by one thread. */
  private static final class Arriving implements Request.Incoming {
    private final ServerRequest request;
    private final HttpConnections.Current connection;
    private final Bodies.Share share;
    private final AnswerMemory.Share reads;
    private final AnswerMemory.Share writes;
    private boolean isRefused;
    private boolean begun;
    private boolean ended;

    Arriving(ServerRequest request, HttpConnections.Current connection, Bodies.Share share, AnswerMemory.Share reads,
        AnswerMemory.Share writes) {
      this.request = request;
      this.connection = connection;
      this.share = share;
      this.reads = reads;
      this.writes = writes;
    }

    @Override
    public boolean belongsTo(String owner) {
      share.belongsTo(owner);
      reads.belongsTo(owner);
      writes.belongsTo(owner);
      isRefused = !connection.held().belongsTo(owner);
      return !isRefused;
    }

    @Override
    public void belongsToThisMachine() {
      connection.held().belongsToThisMachine();
    }

    @Override
    public void whenClosed(Runnable action) {
      connection.reads().watch(action);
    }

    @Override
    public void unwatch() {
      connection.reads().unwatch();
    }

    @Override
    public AnswerMemory.Share memory() {
      return reads;
    }

    @Override
    public AnswerMemory.Share writeMemory() {
      return writes;
    }

    /** Returns whether a read of the body has begun. */
    boolean isBegun() {
      return begun;
    }

    /** Returns whether there is a body that was not read to its end. */
    boolean isUnread() {
      return !ended && request.content().hasEntity();
    }

    @Override
    public @Nullable String header(String name) {
      HeaderName known = NAMES.get(name);
      return request.headers().first(known == null ? HeaderNames.create(name) : known).orElse(null);
    }

    @Override
    public Map<String, String> parameters() {
      UriQuery query = request.query();
      if (query.isEmpty()) {
        return Map.of();
      }
      Map<String, String> parameters = new LinkedHashMap<>();
      try {
        for (String name : query.names()) {
          List<String> values = query.all(name);
          if (values.size() > 1) {
            throw new Problem(ProblemKind.INVALID_PARAMETER, "a query parameter must occur only once: " + name);
          }
          parameters.put(name, values.isEmpty() ? "" : values.getFirst());
        }
      } catch (IllegalArgumentException e) {
        throw new Problem(ProblemKind.INVALID_PARAMETER, "the query is not percent-encoded correctly");
      }
      return parameters;
    }

    @Override
    public byte[] body(int maxBytes) {
      if (!request.content().hasEntity()) {
        return new byte[0];
      }
      long length = request.headers().contentLength().orElse(-1);
      Bodies.ensureLength(length, maxBytes);
      begun = true;
      try {
        byte[] body = share.read(request.content().inputStream(), length, maxBytes);
        ended = true;
        return body;
      } catch (HttpConnections.SlowClientException e) {
        throw new Problem(ProblemKind.REQUEST_TIMEOUT, "the body did not arrive in time (server.client-timeout);"
            + " nothing was done. Send less in one call");
      } catch (IOException | UncheckedIOException | CloseConnectionException e) {
        throw new Problem(ProblemKind.INVALID_REQUEST, "the body did not arrive: " + e.getMessage());
      } catch (RequestException e) {
        throw e.status().code() == 413
            ? tooLarge()
            : new Problem(ProblemKind.INVALID_REQUEST, "the body is not valid HTTP: " + e.getMessage());
      } catch (DataReader.InsufficientDataAvailableException | DataReader.IncorrectNewLineException
          | NumberFormatException e) {
        throw new Problem(ProblemKind.INVALID_REQUEST, "the body is incomplete, or one of its chunks has no length");
      }
    }
  }

  /** Returns the port that the server listens on. The system chooses it if the configured port is 0. */
  int port() {
    return server.port();
  }

  /** Returns whether there is room for one more connection. */
  boolean accepts() {
    return connections.open() < maxConnections;
  }

  /** Returns how many requests are being answered. */
  int underWay() {
    return underWay.get();
  }

  @Override
  public void close() {
    server.stop();
  }
}
