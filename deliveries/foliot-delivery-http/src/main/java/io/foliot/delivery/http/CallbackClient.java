package io.foliot.delivery.http;

import io.foliot.wheel.WheelTimer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.async.AsyncExecCallback;
import org.apache.hc.client5.http.async.AsyncExecChain;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.DefaultConnectionKeepAliveStrategy;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManager;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.client5.http.ssl.ClientTlsStrategyBuilder;
import org.apache.hc.client5.http.ssl.HostnameVerificationPolicy;
import org.apache.hc.client5.http.ssl.HttpsSupport;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.RequestNotExecutedException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.nio.AsyncEntityProducer;
import org.apache.hc.core5.http.nio.AsyncRequestProducer;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.reactor.IOReactorConfig;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * An Apache HttpClient that only sends a request and reads the answer. Retries, redirects, cookies, authentication,
 * decompression, proxies and protocol upgrades are off. It supports HTTP/1.1 and TLS, and pools connections.
 */
final class CallbackClient implements AutoCloseable {
  /**
   * Longest time for which an idle connection is kept. Many servers close an idle connection after 5 s (Node.js) or
   * later. A request that is sent at that moment is lost.
   */
  private static final TimeValue IDLE = TimeValue.ofSeconds(4);
  /** Longest life of a connection. It limits how long an address is used after the host has got a new address. */
  private static final TimeValue CONNECTION_LIFE = TimeValue.ofMinutes(1);
  /** Name of the context's attribute that contains the {@link ReplyReader} of the request. */
  private static final String READER = "foliot.reader";
  /** Maximum number of headers of an answer. */
  private static final int MAX_HEADERS = 100;
  /** Longest line of the answer's head, in bytes. */
  private static final int MAX_LINE = 8 << 10;

  private final CloseableHttpAsyncClient client;
  private final WheelTimer timer = WheelTimer.builder().inline()
      .threadFactory(Thread.ofPlatform().daemon().name("foliot-http-timer").factory()).build();
  private final String userAgent;

  CallbackClient(HttpDeliveryOptions options, DnsResolver addresses) {
    userAgent = "Foliot/" + HeaderText.value(options.version());
    client = HttpAsyncClients.custom()
        .setConnectionManager(pools(options, addresses))
        .setIOReactorConfig(IOReactorConfig.custom().setIoThreadCount(options.ioThreads()).setTcpNoDelay(true).build())
        .setHttp1Config(Http1Config.custom().setMaxHeaderCount(MAX_HEADERS).setMaxLineLength(MAX_LINE).build())
        .setDefaultRequestConfig(requests())
        .setKeepAliveStrategy(new KeepAlive())
        .setThreadFactory(Thread.ofPlatform().daemon().name("foliot-http-", 0).factory())
        .setIoSessionDecorator(BoundedSession::new)
        .evictExpiredConnections().evictIdleConnections(IDLE)
        .disableAutomaticRetries().disableRedirectHandling().disableCookieManagement().disableAuthCaching()
        .disableContentCompression()
        .addExecInterceptorLast("foliot-abort", CallbackClient::noteRuntime)
        .build();
    client.start();
  }

  private static PoolingAsyncClientConnectionManager pools(HttpDeliveryOptions options, DnsResolver addresses) {
    // Both the JDK and the client compare the host name with the certificate. With the default policy of client 5.6.3
    // only the JDK compared them, and too late: a certificate with any name was accepted.
    ClientTlsStrategyBuilder tls = ClientTlsStrategyBuilder.create()
        .setHostVerificationPolicy(HostnameVerificationPolicy.BOTH)
        .setHostnameVerifier(HttpsSupport.getDefaultHostnameVerifier());
    if (options.tls() != null) {
      tls.setSslContext(options.tls());
    }
    Timeout connect = timeout(options.connectTimeout());
    // LAX limits the connections of each destination, but not their total, so no destination uses up the connections of
    // another.
    return PoolingAsyncClientConnectionManagerBuilder.create()
        .setDnsResolver(addresses)
        .setTlsStrategy(tls.buildAsync())
        .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.LAX)
        .setMaxConnPerRoute(options.connectionsPerDestination())
        .setDefaultConnectionConfig(ConnectionConfig.custom().setConnectTimeout(connect)
            .setTimeToLive(CONNECTION_LIFE).setValidateAfterInactivity(TimeValue.ofSeconds(1)).build())
        .setDefaultTlsConfig(TlsConfig.custom().setVersionPolicy(HttpVersionPolicy.FORCE_HTTP_1)
            .setHandshakeTimeout(connect).build())
        .build();
  }

  /** Returns the settings of a request. They have no timeouts, because one timer bounds the whole attempt. */
  private static RequestConfig requests() {
    return RequestConfig.custom().setConnectionRequestTimeout(Timeout.DISABLED).setResponseTimeout(Timeout.DISABLED)
        .setRedirectsEnabled(false).setAuthenticationEnabled(false).setExpectContinueEnabled(false)
        .setProtocolUpgradeEnabled(false).setContentCompressionEnabled(false).build();
  }

  private static Timeout timeout(Duration duration) {
    return Timeout.ofMilliseconds(duration.toMillis());
  }

  /** Keeps an idle connection for one second less than the receiver announces, and for {@link #IDLE} at most. */
  private static final class KeepAlive extends DefaultConnectionKeepAliveStrategy {
    @Override
    public TimeValue getKeepAliveDuration(HttpResponse response, HttpContext context) {
      if (!response.containsHeader("keep-alive")) {
        return IDLE;
      }
      TimeValue announced = super.getKeepAliveDuration(response, context);
      if (announced == null || announced.getDuration() < 0) {
        return IDLE;
      }
      return TimeValue.ofMilliseconds(Math.max(1, Math.min(IDLE.toMilliseconds(), announced.toMilliseconds() - 1_000)));
    }
  }

  /**
   * Passes the holder of the connection to the reader, so that the reader can close the connection at any time.
   * Fails the request if the attempt has ended already. The holder is needed because a cancelled future does not close
   * the connection once a status of 400 or more was read. A body that never ends would then keep the connection
   * forever.
   */
  private static void noteRuntime(HttpRequest request, @Nullable AsyncEntityProducer entity, AsyncExecChain.Scope scope,
      AsyncExecChain chain, AsyncExecCallback callback) throws HttpException, IOException {
    if (scope.clientContext.getAttribute(READER) instanceof ReplyReader reader && !reader.readFrom(scope.execRuntime)) {
      reader.abort();
      callback.failed(new RequestNotExecutedException("the attempt has ended"));
      return;
    }
    chain.proceed(request, entity, scope, callback);
  }

  /** Sends a request once. The callback receives the result. */
  Future<Reply> execute(AsyncRequestProducer request, ReplyReader reader, FutureCallback<Reply> callback) {
    HttpClientContext context = HttpClientContext.create();
    context.setAttribute(READER, reader);
    return client.execute(request, reader, context, callback);
  }

  WheelTimer timer() {
    return timer;
  }

  String userAgent() {
    return userAgent;
  }

  @Override
  public void close() {
    timer.close();
    client.close(CloseMode.GRACEFUL);
  }
}
