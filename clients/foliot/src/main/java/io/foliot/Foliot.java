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
 *       .handle((timeout, run) -> shop.cancelIfUnpaid(timeout.order()));
 *   timeouts.in(Duration.ofMinutes(30)).key("order-7").submit(new Timeout("7"));
 * }
 * }</pre>
 *
 * <p>An instance is ready when the method that makes it returns, and must be closed. An application has one for each
 * place where tasks are kept. Any thread may call.
 *
 * <p>Calls block until the store has answered. They fail with {@link IllegalArgumentException} for a request that can
 * never work; with {@link io.foliot.core.Scheduler.OverloadedException} if too many calls wait (nothing was done; try
 * again later); and with {@link io.foliot.core.store.StoreException} while the store is unreachable, in which case it
 * is <em>unknown</em> whether the call took effect. An {@linkplain TaskBuilder#idempotencyKey idempotency key} makes it
 * safe to repeat a submit.
 */
public interface Foliot extends AutoCloseable {
  /**
   * Opens tasks in a folder of this machine, which is created if it does not exist. One process uses a folder at a
   * time. A task that was submitted survives a crash of the process and a loss of power. Needs
   * {@code io.foliot:foliot-store-rocksdb}.
   *
   * @throws io.foliot.core.store.StoreException if the folder cannot be used; the message says why and what to do
   * @throws IllegalStateException if the store's module is missing
   */
  static Foliot open(Path folder) {
    return builder().open(folder);
  }

  /**
   * Opens tasks in a PostgreSQL, MariaDB or MySQL database, in which missing tables are created. All processes that do
   * so with one database share its tasks. Needs {@code io.foliot:foliot-store-jdbc}.
   *
   * @param dataSource the application's own pool; it is not closed
   * @throws io.foliot.core.store.StoreException if the database cannot be used; the message says why and what to do
   * @throws IllegalStateException if the store's module is missing
   */
  static Foliot on(DataSource dataSource) {
    return builder().on(dataSource);
  }

  /**
   * Connects to a Foliot server or cluster. Tasks are kept there; handlers run in this process as workers that ask the
   * server for tasks, with leases that are extended while a handler runs. Needs {@code io.foliot:foliot-client}.
   *
   * <p>Calls then fail with the exceptions of {@link io.foliot.client.FoliotClient} in place of those of the core. A
   * {@linkplain #builder builder} sets the API key.
   *
   * @param server its address, such as {@code http://127.0.0.1:7400}
   * @throws io.foliot.client.UnreachableException if no connection to the server is possible
   * @throws io.foliot.client.FoliotException if the server refuses the key
   * @throws IllegalStateException if the client's module is missing
   */
  static Foliot connect(URI server) {
    return builder().connect(server);
  }

  /** Opens tasks in memory, which are gone when the process ends: for trying things out. */
  static Foliot inMemory() {
    return builder().inMemory();
  }

  /** Returns a builder for settings that have defaults: the node's name, the threads of handlers, the API key. */
  static FoliotBuilder builder() {
    return new FoliotBuilder();
  }

  /**
   * Returns the tasks of a queue, and creates the queue if it does not exist.
   *
   * @param queue from 1 to 128 characters of {@code A-Z a-z 0-9 . _ -}
   * @param type the type of payloads: {@code String}, {@code byte[]}, or a type that the JSON library writes and reads
   * @throws IllegalArgumentException if the name is not one of a queue
   * @throws IllegalStateException if the type needs a JSON library and there is none
   */
  <T> Tasks<T> tasks(String queue, Class<T> type);

  /** As {@link #tasks(String, Class)}, with a codec of the caller. */
  <T> Tasks<T> tasks(String queue, PayloadCodec<T> codec);

  /**
   * Returns the recurring jobs.
   *
   * @throws UnsupportedOperationException if this is a connection to a server; its jobs are put by
   *     {@link io.foliot.client.FoliotClient#putJob}, and run in this application's handlers all the same
   */
  RecurringJobs jobs();

  /**
   * Returns the workers of recurring jobs in this process: handlers by the name of the job, with leases, checkpoints
   * and a place in the fleet. Needs {@code io.foliot:foliot-client}.
   *
   * @throws IllegalStateException if the client's module is missing
   */
  Workers workers();

  /**
   * Stops: no more attempts begin, and those under way have ten seconds to end. Handlers that still run then are
   * interrupted; an attempt that fails in this way is repeated by another node, or after the next start.
   */
  @Override
  void close();
}
