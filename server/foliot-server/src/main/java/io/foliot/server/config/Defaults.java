package io.foliot.server.config;

import io.foliot.store.redis.RedisOptions;

/**
 * Defaults that the server and the commands share, as constants, which annotations can use. Every other default is
 * defined by the class that it configures ({@code EngineOptions}, {@code RocksDbOptions}, ...) or by its {@link
 * Option}.
 */
public final class Defaults {
  /** Address to listen on. */
  public static final String HOST = "127.0.0.1";
  /** Port to listen on. */
  public static final int PORT = 7400;
  /** Address of a server with default settings. */
  public static final String URL = "http://" + HOST + ":" + PORT;
  /** Data folder. */
  public static final String DATA = "foliot-data";
  /** Access to a server on loopback. */
  public static final String ACCESS = "auto";
  /** Namespace of a store in Redis. */
  public static final String NAMESPACE = RedisOptions.DEFAULT_NAMESPACE;
  /** Default limit of the tasks in a page of a list. */
  public static final int PAGE = 100;
  /** Default limit of the failed tasks that a redrive without ids makes live again. */
  public static final int REDRIVE = 1_000;
  /** Default limit of the tasks that one cancel by a filter cancels. */
  public static final int CANCEL = 1_000;

  private Defaults() {}
}
