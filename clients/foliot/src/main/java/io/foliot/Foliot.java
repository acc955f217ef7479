package io.foliot;

import java.net.URI;
import java.nio.file.Path;
import javax.sql.DataSource;

/**
 * Runs delayed work: durably, on time, at least once.
 *
 * <pre>{@code
 * record Timeout(String order) {}
 * try (Foliot foliot = Foliot.open(Path.of("tasks"))) {
 *   Tasks<Timeout> timeouts = foliot.tasks("order-timeouts", Timeout.class)
 *       .retry(5, Duration.ofSeconds(1))
 *       .handle((timeout, attempt) -> shop.cancelIfUnpaid(timeout.order()));
 *   timeouts.in(Duration.ofMinutes(30)).key("order-7").submit(new Timeout("7"));
 * }
 * }</pre>
 *
 * <p>An instance is ready when the method that creates it returns, and must be closed. An application needs one
 * instance for each place where tasks are kept. Safe for use by any thread.
 *
 * <p>Calls block until the store has answered. They may fail with these exceptions, among others:
 * <ul>
 * <li>{@link IllegalArgumentException}: the request can never succeed.
 * <li>{@link io.foliot.core.Scheduler.OverloadedException}: the call is refused for now. Nothing was done; try again
 * later.
 * <li>{@link io.foliot.core.store.StoreException}: the store failed. Unless the class of the exception says
 * otherwise, it is <em>unknown</em> whether the call took effect.
 * </ul>
 *
 * <p>An {@linkplain TaskBuilder#idempotencyKey idempotency key} makes it safe to repeat a submit.
 */
public interface Foliot extends AutoCloseable {
  /**
   * Opens tasks in a folder of this machine. The folder is created if it does not exist. Only one process at a time can
   * use a folder. A task that was submitted survives a crash of the process and a loss of power. Needs
   * {@code io.foliot:foliot-store-rocksdb}.
   *
   * @throws io.foliot.core.store.StoreException if the folder cannot be used; the message says why and what to do
   * @throws IllegalStateException if the store's module is missing
   */
  static Foliot open(Path folder) {
    return builder().open(folder);
  }

  /**
   * Opens tasks in a PostgreSQL, MariaDB or MySQL database. Missing tables are created. All processes that open the
   * same database share its tasks. Needs {@code io.foliot:foliot-store-jdbc}.
   *
   * @param dataSource the application's own pool; it is not closed
   * @throws io.foliot.core.store.StoreException if the database cannot be used; the message says why and what to do
   * @throws IllegalStateException if the store's module is missing
   */
  static Foliot on(DataSource dataSource) {
    return builder().on(dataSource);
  }

  /**
   * Connects to a Foliot server or cluster. The server keeps the tasks. Handlers run in this process: workers claim
   * tasks from the server, and extend the lease of a task while its handler runs. Needs
   * {@code io.foliot:foliot-client}.
   *
   * <p>Calls of this instance fail with the exceptions of {@link io.foliot.client.FoliotClient} instead of those of the
   * core. However, an interrupt during a submit, touch or cancel fails the call with a
   * {@link io.foliot.core.store.StoreException}. A {@linkplain #builder builder} sets the API key.
   *
   * @param server the address of the server, such as {@code http://127.0.0.1:7400}
   * @throws io.foliot.client.UnreachableException if no connection to the server is possible
   * @throws io.foliot.client.FoliotException if the server refuses the key or the call
   * @throws io.foliot.client.UnknownOutcomeException if there is no usable answer, for example because of a timeout
   * @throws IllegalStateException if the client's module is missing
   */
  static Foliot connect(URI server) {
    return builder().connect(server);
  }

  /** Opens tasks in memory. They are lost when the instance is closed. For experiments and tests. */
  static Foliot inMemory() {
    return builder().inMemory();
  }

  /** Returns a builder for settings that have defaults, such as the node's name and the API key. */
  static FoliotBuilder builder() {
    return new FoliotBuilder();
  }

  /**
   * Returns the tasks of a queue, and creates the queue if it does not exist.
   *
   * @param queue from 1 to 128 characters of {@code A-Z a-z 0-9 . _ -}; the first is a letter or a digit, and the name
   *     does not begin with {@code foliot.}
   * @param type the type of payloads: {@code String}, {@code byte[]}, or a type that the JSON library writes and reads
   * @throws IllegalArgumentException if the name is not valid for a queue
   * @throws IllegalStateException if the type needs a JSON library and there is none
   */
  <T> Tasks<T> tasks(String queue, Class<T> type);

  /** Returns the tasks of a queue as {@link #tasks(String, Class)} does, but uses a codec that the caller supplies. */
  <T> Tasks<T> tasks(String queue, PayloadCodec<T> codec);

  /**
   * Returns the recurring jobs.
   *
   * @throws UnsupportedOperationException if this is a connection to a server. The jobs of a server are created
   *     by {@link io.foliot.client.FoliotClient#putJob}; their tasks still run in the handlers of this application
   */
  RecurringJobs jobs();

  /**
   * Returns the workers of recurring jobs in this process. A worker has a handler for each job name, holds leases,
   * stores checkpoints, and is a member of the fleet. Needs {@code io.foliot:foliot-client}.
   *
   * @throws IllegalStateException if the client's module is missing
   */
  Workers workers();

  /**
   * Stops this instance. No more attempts begin. Attempts that are running have ten seconds to end; then their handlers
   * are interrupted. An attempt that fails because of the interrupt is repeated by another node, or after the next
   * start.
   */
  @Override
  void close();
}
