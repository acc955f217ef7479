package io.foliot.bench.store;

import org.jspecify.annotations.Nullable;

/** The servers of the comparison. Each is started at its first use. Used by one thread. */
final class Sites implements AutoCloseable {
  private final Started started;
  private @Nullable PostgresSite postgres;
  private @Nullable MariaDbSite mariaDb;
  private @Nullable RedisSite redis;
  private @Nullable RocksSite rocks;

  /** Called with each server after it has started. */
  @FunctionalInterface
  interface Started {
    void show(Site site) throws Exception;
  }

  Sites(Started started) {
    this.started = started;
  }

  PostgresSite postgres() {
    PostgresSite site = postgres;
    if (site == null) {
      site = new PostgresSite();
      postgres = site;
      show(site);
    }
    return site;
  }

  MariaDbSite mariaDb() {
    MariaDbSite site = mariaDb;
    if (site == null) {
      site = new MariaDbSite();
      mariaDb = site;
      show(site);
    }
    return site;
  }

  RedisSite redis() {
    RedisSite site = redis;
    if (site == null) {
      site = new RedisSite();
      redis = site;
      show(site);
    }
    return site;
  }

  RocksSite rocks() {
    RocksSite site = rocks;
    if (site == null) {
      site = new RocksSite();
      rocks = site;
      show(site);
    }
    return site;
  }

  private void show(Site site) {
    try {
      started.show(site);
    } catch (Exception e) {
      throw new IllegalStateException("cannot describe a server", e);
    }
  }

  @Override
  public void close() {
    if (postgres != null) {
      postgres.close();
    }
    if (mariaDb != null) {
      mariaDb.close();
    }
    if (redis != null) {
      redis.close();
    }
    if (rocks != null) {
      rocks.close();
    }
  }
}
