package io.foliot.delivery.http;

import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.time.Duration;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.MessageConstraintException;

/** Creates the results of attempts that got no complete answer. Each result has an explanation. */
final class FailureReason {
  private FailureReason() {}

  /**
   * Returns the result of an attempt that failed.
   *
   * @param failure the exception that the client reported
   * @param sent whether the receiver may have received any part of the request
   */
  static Answer answer(Exception failure, boolean sent, CallbackUrl url) {
    String where = consequence(sent) + ": receiver=" + url.hostAndPort();
    return switch (failure) {
      case UnknownHostException e -> unreachable("the host has no permitted address any more" + where);
      case ConnectTimeoutException e -> unreachable("no connection in time; a firewall may drop the packets" + where);
      case NoRouteToHostException e -> unreachable("no route to the host" + where);
      case ConnectException e -> unreachable("the connection was refused; is the receiver running?" + where);
      case SSLPeerUnverifiedException e ->
        unreachable("the certificate is for another host: " + HeaderText.shown(messageOf(e)) + where);
      case SSLException e -> unreachable("TLS failed: " + HeaderText.shown(messageOf(e)) + where);
      case EndlessAnswerException e -> failing(messageOf(e) + where);
      case MessageConstraintException e -> failing("the answer has more or longer headers than the limit" + where);
      case HttpException e -> failing("the answer is not HTTP/1.1" + where);
      default -> unreachable("the connection broke before the answer was complete" + where);
    };
  }

  /**
   * Returns the result of an attempt that timed out. The result names the stage that the attempt had reached.
   *
   * @param resolved whether an address was found in time
   * @param sent whether the receiver may have received any part of the request
   */
  static Answer timeout(Duration timeout, boolean resolved, boolean sent, CallbackUrl url) {
    String what = sent
        ? "no answer in time"
        : resolved ? "no connection was ready in time" : "the host name did not resolve in time";
    return unreachable(what + consequence(sent) + ": receiver=" + url.hostAndPort() + ", timeout=" + timeout);
  }

  private static String consequence(boolean sent) {
    return sent ? "; the receiver may have done the work" : "; nothing was sent";
  }

  static Answer unreachable(String detail) {
    return new Answer.Retry(null, Health.UNREACHABLE, detail);
  }

  private static Answer failing(String detail) {
    return new Answer.Retry(null, Health.FAILING, detail);
  }

  private static String messageOf(Exception e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }
}
