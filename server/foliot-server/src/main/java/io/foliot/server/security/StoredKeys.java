package io.foliot.server.security;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Keys as documents of the store, next to the settings of queues. Calls block. */
public final class StoredKeys implements KeyRing.Vault {
  private final TaskStore store;
  private final Duration timeout;

  /**
   * Creates a vault in a store.
   *
   * @param timeout the longest wait for the store
   */
  public StoredKeys(TaskStore store, Duration timeout) {
    this.store = store;
    this.timeout = timeout;
  }

  private <T> T await(CompletionStage<T> call) {
    try {
      return call.toCompletableFuture().copy().orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new StoreException("the store did not answer in time: timeout=" + timeout, e);
      }
      throw e;
    }
  }

  @Override
  public Collection<ApiKey> all() {
    return await(store.documents(DocumentKind.API_KEY)).stream()
        .map(document -> KeyCodec.decode(document.name(), document.content())).toList();
  }

  @Override
  public void add(ApiKey key) {
    if (!await(store.writeDocument(DocumentKind.API_KEY, key.id(), 0, KeyCodec.encode(key)))) {
      throw new IllegalStateException("the random id of a new API key exists already: id=" + key.id());
    }
  }

  @Override
  public void remove(String id) {
    Optional<Document> found = await(store.document(DocumentKind.API_KEY, id));
    // The store refuses the removal if the document has changed since it was read.
    while (found.isPresent()
        && !await(store.writeDocument(DocumentKind.API_KEY, id, found.get().version(), null))) {
      found = await(store.document(DocumentKind.API_KEY, id));
    }
  }
}
