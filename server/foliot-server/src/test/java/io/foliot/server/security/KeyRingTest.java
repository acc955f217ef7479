package io.foliot.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.SystemClock;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the API keys of two servers over one store. */
final class KeyRingTest {
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

  private final SecureRandom random = new SecureRandom();
  private final TaskStore store = new MemoryStore(1, new SystemClock(), () -> new Token(1, 2));

  private KeyRing ring() {
    return new KeyRing(new StoredKeys(store, Duration.ofSeconds(5)), null);
  }

  private ApiKey.Issued issue() {
    return ApiKey.issue(random, EnumSet.of(Action.ADMIN), List.of(QueuePattern.ALL), "", NOW, null);
  }

  @Test
  void aRefreshSeesTheKeysThatAnotherServerChanged() {
    KeyRing here = ring();
    KeyRing there = ring();
    ApiKey.Issued first = issue();
    ApiKey.Issued second = issue();
    there.add(first.key());
    there.add(second.key());
    assertThat(here.find(first.text(), NOW)).isNull();
    here.refresh();
    assertThat(here.find(first.text(), NOW)).isNotNull();
    assertThat(there.remove(second.key().id(), NOW, false)).isTrue();
    here.refresh();
    assertThat(here.find(second.text(), NOW)).isNull();
    assertThat(here.find(first.text(), NOW)).isNotNull();
  }
}
