package io.foliot.client;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Makes calls, repeats calls that are safe to repeat, and completes their futures. */
final class Transport {
  /*
   * A call has one of three outcomes: done (an answer of 2xx), not done (the server refused the call, or was never
   * reached), or unknown (everything else). Once the outcome of one attempt is unknown, the outcome of the call stays
   * unknown until an attempt gets an answer about the call itself. A later attempt does not show whether the earlier
   * one was carried out if it does not reach the server, or if the server refuses it for a reason such as overload.
   */

  /** Problem type of an unknown task. The status 404 alone may also mean a wrong URL or a missing queue. */
  private static final String UNKNOWN_TASK = "urn:foliot:problem:unknown-task";

  private static final int TOO_MANY_REQUESTS = 429;
  private static final int INTERNAL_ERROR = 500;
  private static final int BAD_GATEWAY = 502;
  private static final int UNAVAILABLE = 503;
  private static final int GATEWAY_TIMEOUT = 504;

  private final HttpClient http;
  private final boolean ownsHttp;
  private final String baseUrl;
  private final @Nullable String authorization;
  private final RetryPolicy retry;
  private final ClientClock clock;
  private volatile boolean closed;

  Transport(FoliotClient.Builder settings, HttpClient http, boolean ownsHttp) {
    this.http = http;
    this.ownsHttp = ownsHttp;
    this.baseUrl = settings.baseUrl;
    this.authorization = settings.apiKey == null ? null : "Bearer " + settings.apiKey;
    this.retry = settings.retry;
    this.clock = settings.clock;
  }

  String baseUrl() {
    return baseUrl;
  }

  ClientClock clock() {
    return clock;
  }

  RetryPolicy retry() {
    return retry;
  }

  boolean isClosed() {
    return closed;
  }

  void close() {
    closed = true;
    if (ownsHttp) {
      http.shutdownNow();
    }
  }

  /** Returns a builder of a request to a route. Its only header is the API key, if there is a key. */
  HttpRequest.Builder request(ApiPath path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(baseUrl + path));
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    return request;
  }

  /**
   * Makes a call. Cancelling the future aborts the call, with an unknown outcome.
   *
   * @param timeout the timeout of each attempt, from the sending of the request to the last byte of the answer
   */
  <T> CompletableFuture<T> call(HttpRequest request, Duration timeout, Repeat repeat, Reading<T> reading) {
    Call<T> call = new Call<>(request, timeout, repeat, reading);
    call.attempt();
    return call.result;
  }

  /** Returns the wait after the attempt with the given number, counted from 1. */
  Duration backoff(int attempt) {
    return retry.backoff(attempt, ThreadLocalRandom.current().nextDouble());
  }

  /** One call, with all its attempts, which are made one after the other. */
  private final class Call<T> {
    private final HttpRequest request;
    private final Duration timeout;
    private final Repeat repeat;
    private final Reading<T> reading;
    final CompletableFuture<T> result = new CompletableFuture<>();

    // Used by one thread at a time: the thread that runs the current step.
    private int attempts;
    private boolean perhapsDone;

    // Used by any thread.
    /** The future that the call waits for: an answer, or the time of the next attempt. */
    private volatile CompletableFuture<?> step = CompletableFuture.completedFuture(null);

    Call(HttpRequest request, Duration timeout, Repeat repeat, Reading<T> reading) {
      this.request = request;
      this.timeout = timeout;
      this.repeat = repeat;
      this.reading = reading;
      CompletableFuture<?> unused = result.whenComplete((value, failure) -> {
        if (result.isCancelled()) {
          step.cancel(true);
        }
      });
    }

    @Override
    public String toString() {
      return request.method() + " " + request.uri();
    }

    void attempt() {
      if (closed) {
        IllegalStateException ended = new IllegalStateException("the client is closed: " + this);
        result.completeExceptionally(perhapsDone ? unknown("the client was closed", ended) : ended);
        return;
      }
      attempts++;
      CompletableFuture<HttpResponse<byte[]>> exchange = http.sendAsync(request, BodyHandlers.ofByteArray());
      await(exchange);
      // HttpRequest.timeout need not cover the body, and a body may never end.
      CompletableFuture<?> unused = exchange.copy()
          .orTimeout(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS).whenComplete((answer, failure) -> {
            if (failure == null) {
              runStep(() -> answered(answer));
            } else {
              exchange.cancel(true);
              runStep(() -> unanswered(failure instanceof CompletionException wrapped && wrapped.getCause() != null
                  ? wrapped.getCause()
                  : failure));
            }
          });
    }

    /**
     * Runs the next step. If the step throws, this method fails the call, so that its caller does not wait for ever.
     */
    private void runStep(Runnable next) {
      try {
        next.run();
      } catch (Throwable e) {
        result.completeExceptionally(unknown("the client failed, cause=" + e, e));
      }
    }

    private void await(CompletableFuture<?> next) {
      step = next;
      if (result.isCancelled()) {
        next.cancel(true);
      }
    }

    private void answered(HttpResponse<byte[]> answer) {
      int status = answer.statusCode();
      if (status >= 200 && status < 300) {
        T value;
        try {
          value = reading.done().apply(answer.body());
        } catch (RuntimeException e) {
          result.completeExceptionally(unknown("the answer could not be read, status=" + status, e));
          return;
        }
        result.complete(value);
        return;
      }
      RefusedTask problem = RefusedTask.ofAnswer(status, answer.body());
      if (reading.unknownTask() != null && problem.type().equals(UNKNOWN_TASK)) {
        result.complete(reading.unknownTask());
        return;
      }
      Optional<Duration> retryAfter = answer.headers().firstValue("Retry-After").flatMap(this::retryAfter);
      FoliotException refusal = new FoliotException(toString(), problem, retryAfter);
      boolean unstarted = status == TOO_MANY_REQUESTS || (status == UNAVAILABLE && retryAfter.isPresent());
      if (status == BAD_GATEWAY || status == GATEWAY_TIMEOUT) {
        perhapsDone = true;
        retry(repeat == Repeat.ALWAYS, Duration.ZERO, unknown("a gateway failed, status=" + status, refusal));
      } else if (status == INTERNAL_ERROR) {
        // The server may have failed after it wrote. It would probably fail again in the same way.
        result.completeExceptionally(unknown("the server failed, status=" + status, refusal));
      } else if (unstarted || status == UNAVAILABLE) {
        retry(repeat == Repeat.ALWAYS || (repeat == Repeat.IF_NOT_DONE && unstarted),
            retryAfter.orElse(Duration.ZERO), failureFor(refusal));
      } else {
        result.completeExceptionally(isAboutTheCaller(status) ? failureFor(refusal) : refusal);
      }
    }

    private void unanswered(Throwable cause) {
      // A connection whose handshake failed has carried no request.
      if (cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException
          || cause instanceof SSLHandshakeException) {
        retry(repeat != Repeat.NEVER, Duration.ZERO, failureFor(new UnreachableException(toString(), cause)));
        return;
      }
      perhapsDone = true;
      if (cause instanceof TimeoutException) {
        retry(repeat == Repeat.ALWAYS, Duration.ZERO, unknown("no answer came in time, timeout=" + timeout, cause));
      } else {
        // An error that does not come from the connection would occur again.
        retry(repeat == Repeat.ALWAYS && cause instanceof IOException, Duration.ZERO,
            unknown("the connection broke, cause=" + cause, cause));
      }
    }

    /**
     * Returns the exception for a call if the server did not carry out the latest attempt. This is the given failure,
     * or an unknown outcome if the server may have carried out an earlier attempt.
     */
    private RuntimeException failureFor(RuntimeException failure) {
      return perhapsDone
          ? unknown("the outcome of an earlier attempt is unknown, and the latest attempt was not carried out", failure)
          : failure;
    }

    private UnknownOutcomeException unknown(String reason, Throwable cause) {
      return new UnknownOutcomeException(toString(), reason + ", attempts=" + attempts, cause);
    }

    private void retry(boolean allowed, Duration retryAfter, RuntimeException otherwise) {
      if (!allowed || attempts >= retry.maxAttempts() || retryAfter.compareTo(retry.maxRetryAfter()) > 0
          || result.isDone()) {
        result.completeExceptionally(otherwise);
        return;
      }
      Duration backoff = backoff(attempts);
      CompletableFuture<Void> wait = clock.after(backoff.compareTo(retryAfter) > 0 ? backoff : retryAfter);
      await(wait);
      CompletableFuture<?> unused = wait.whenCompleteAsync((nothing, cancelled) -> {
        if (cancelled == null) {
          runStep(this::attempt);
        }
      }, Thread::startVirtualThread).exceptionally(failure -> {
        // Without effect if the call was cancelled. Otherwise no thread could be started.
        result.completeExceptionally(unknown("the client failed, cause=" + failure, failure));
        return null;
      });
    }

    /** Returns the wait that a {@code Retry-After} requests, in seconds or as a date; empty if the value is neither. */
    private Optional<Duration> retryAfter(String value) {
      try {
        if (!value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
          return Optional.of(Duration.ofSeconds(Long.parseLong(value)));
        }
        Instant until = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(value));
        Duration wait = Duration.between(clock.now(), until);
        return Optional.of(wait.isNegative() ? Duration.ZERO : wait);
      } catch (NumberFormatException | DateTimeException e) {
        return Optional.empty();
      }
    }
  }

  /**
   * Returns whether a status concerns the caller's rights or the state of the server, not the call itself. Such a
   * status does not show whether an earlier attempt was carried out.
   */
  private static boolean isAboutTheCaller(int status) {
    return status == 401 || status == 403 || status >= 500;
  }
}
