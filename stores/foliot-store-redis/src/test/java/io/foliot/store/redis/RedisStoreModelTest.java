package io.foliot.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.RedisConnection;
import io.foliot.backends.RedisServer;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * Runs the contract kit on a clock that the tests set. On such a clock the kit also compares random operations with a
 * model. The scripts read the clock from a key of Redis, which this test writes before each call of the store.
 */
@Tag("long")
final class RedisStoreModelTest extends TaskStoreContract {
  private static final String CLOCK = "(function() local t = tonumber(redis.call('GET', 'test:clock')) "
      + "return {math.floor(t / 1000000), t % 1000000} end)()";

  /** Sets the clock even if the server has no memory left. */
  private static final String SET_CLOCK = "#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], ARGV[1])";

  private static RedisServer server;
  private static int stores;

  private RedisOptions options = RedisOptions.at("");

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static RedisConnection connect() {
    try {
      return new RedisConnection(server.port());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private TaskStore opened(TimeSource storeClock) {
    RedisConnection connection = connect();
    AtomicBoolean closed = new AtomicBoolean();
    TaskStore store = RedisStore.open(options, new RedisStore.Seams(new SecureTokens(), CLOCK));
    return (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(), new Class<?>[]{TaskStore.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals("close")) {
            if (closed.compareAndSet(false, true)) {
              connection.close();
            }
          } else if (!closed.get()) {
            synchronized (connection) {
              Object set = connection.command("EVAL", SET_CLOCK, "1", "test:clock",
                  Long.toString(storeClock.wallMicros()));
              assert "OK".equals(set);
            }
          }
          return method.invoke(store, arguments);
        });
  }

  @Override
  protected void setFull(boolean isFull) {
    assertThat(server.command("CONFIG", "SET", "maxmemory", isFull ? "1mb" : "0")).isEqualTo("OK");
  }

  @Override
  protected TaskStore open(TimeSource storeClock) {
    options = RedisOptions.builder(server.uri()).namespace("kit-" + stores++).slots(4).build();
    return opened(storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    old.close();
    return opened(storeClock);
  }
}
