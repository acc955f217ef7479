package io.foliot.delivery.http;

import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.delivery.http.HostLookup.Denied;
import io.foliot.delivery.http.HostLookup.Finding;
import io.foliot.delivery.http.HostLookup.Permitted;
import io.foliot.delivery.http.HostLookup.Unresolved;
import io.foliot.wheel.Timeout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.RequestNotExecutedException;
import org.jspecify.annotations.Nullable;

/**
 * An attempt in progress. It is NEW, then LOOKING UP (skipped if the addresses are known), then SENT, then ENDED. It
 * can end in any state and on any thread. The first thread that sets {@link #ended} decides the answer.
 */
final class Exchange implements FutureCallback<Reply> {
  /**
   * Maximum number of resends. A request is resent if the receiver closed the idle connection before any part of the
   * request was written.
   */
  private static final int MAX_RESENDS = 3;

  private final HttpDelivery delivery;
  private final DeliveryAttempt attempt;
  private final HttpTarget target;
  private final CompletableFuture<Answer> answer = new CompletableFuture<>();
  private final AtomicBoolean ended = new AtomicBoolean();

  // written by the thread that begins or sends, read by the thread that ends the exchange
  private volatile @Nullable Timeout timeout;
  private volatile @Nullable Future<?> sent;

  /** Reader of the receiver's reply. Written by the thread that sends, read by the thread that ends the exchange. */
  private volatile @Nullable ReplyReader reader;

  // Accessed only by the thread that sends again, after the previous send has failed.
  private int resends;

  Exchange(HttpDelivery delivery, DeliveryAttempt attempt, HttpTarget target) {
    this.delivery = delivery;
    this.attempt = attempt;
    this.target = target;
  }

  CompletionStage<Answer> stage() {
    return answer;
  }

  /** Starts the timer, finds the addresses, and sends the request. Never throws, never blocks. */
  void begin() {
    try {
      Duration limit = attempt.target().timeout();
      Timeout timer = delivery.client().timer().schedule(this::timeIsUp, limit);
      timeout = timer;
      if (ended.get()) {
        timer.cancel();
        return;
      }
      CallbackUrl url = target.url();
      byte[] literal = url.literal();
      Finding finding = literal != null
          ? delivery.lookup().ofLiteral(url.host(), literal)
          : delivery.lookup().known(url.host());
      if (finding != null) {
        proceed(finding);
      } else {
        var unused = delivery.lookup().find(url.host()).thenAccept(this::proceed);
      }
    } catch (RejectedExecutionException e) {
      end(FailureReason.unreachable("this node is stopping"));
    } catch (Throwable e) {
      endBroken(e);
    }
  }

  private void proceed(Finding finding) {
    switch (finding) {
      case Permitted permitted -> send();
      case Denied denied -> end(FailureReason.unreachable(denied.detail()));
      case Unresolved unresolved -> end(FailureReason.unreachable(unresolved.detail()));
    }
  }

  private void send() {
    if (ended.get()) {
      return;
    }
    try {
      ReplyReader newReader = new ReplyReader(reply -> end(answerOf(reply)));
      reader = newReader;
      Future<?> future = delivery.client().execute(
          CallbackRequest.of(attempt, target, delivery.client().userAgent(), delivery.wallMillis(), newReader::sent),
          newReader, this);
      sent = future;
      if (ended.get()) {
        abort();
      }
    } catch (Throwable e) {
      endBroken(e);
    }
  }

  private void endBroken(Throwable e) {
    end(FailureReason.unreachable("the callback could not be sent: " + e.getClass().getSimpleName()));
  }

  @Override
  public void completed(Reply reply) {
    // The reader ends the exchange when the connection is back in the pool.
  }

  @Override
  public void failed(Exception failure) {
    if (failure instanceof RequestNotExecutedException && resends < MAX_RESENDS) {
      resends++;
      send();
      return;
    }
    Answer byStatus = answerByStatus();
    end(byStatus != null ? byStatus : FailureReason.answer(failure, wasSent(), target.url()));
  }

  @Override
  public void cancelled() {
    failed(new InterruptedException("cancelled"));
  }

  private void timeIsUp() {
    Answer byStatus = answerByStatus();
    end(byStatus != null
        ? byStatus
        : FailureReason.timeout(attempt.target().timeout(), reader != null, wasSent(), target.url()));
  }

  private boolean wasSent() {
    ReplyReader current = reader;
    return current != null && current.wasSent();
  }

  /**
   * Returns the answer that follows from the status, or null if no status was received. The status decides even if the
   * body is incomplete, because a receiver that sent 200 has done the work.
   */
  private @Nullable Answer answerByStatus() {
    ReplyReader current = reader;
    Reply reply = current == null ? null : current.soFar();
    return reply == null ? null : answerOf(reply);
  }

  private Answer answerOf(Reply reply) {
    return reply.answer(delivery.wallMillis(),
        reply.status() >= 400 ? CallbackRequest.secrets(attempt) : List.of());
  }

  /** Ends the exchange with this answer, unless it has ended already. */
  void end(Answer with) {
    if (ended.compareAndSet(false, true)) {
      Timeout timer = timeout;
      if (timer != null) {
        timer.cancel();
      }
      abort();
      delivery.ended(this);
      answer.complete(with);
    }
  }

  /** Cancels the request if the client has not completed it. Closes the connection unless it is back in the pool. */
  private void abort() {
    Future<?> future = sent;
    if (future != null && !future.isDone()) {
      future.cancel(true);
    }
    ReplyReader current = reader;
    if (current != null) {
      current.abort();
    }
  }
}
