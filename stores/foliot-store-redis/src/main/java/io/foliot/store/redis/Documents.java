package io.foliot.store.redis;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.EnumCodes;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The documents of the store. Each kind has a hash. A value of this hash consists of a version and the content.
 * Thread-safe.
 */
final class Documents {
  private static final byte[] NOTHING = {};

  private final Link link;
  private final Layout layout;

  Documents(Link link, Layout layout) {
    this.link = link;
    this.layout = layout;
  }

  private byte[] hash(DocumentKind kind) {
    return layout.global("documents:" + EnumCodes.nameOf(kind));
  }

  private <T> CompletionStage<T> call(Supplier<CompletionStage<T>> call) {
    return link.isClosed()
        ? CompletableFuture.failedFuture(new StoreException("the store is closed", null))
        : call.get();
  }

  private static Document document(String name, byte[] value) {
    BytesReader in = new BytesReader(value);
    return new Document(name, in.u64(), DocumentFormat.unframe(name, in.rest()));
  }

  CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return call(() -> link.command(CommandType.HMGET, hash(kind), Layout.bytes(name)).thenApply(
        reply -> Optional.ofNullable((byte[]) reply.getFirst()).map(value -> document(name, value))));
  }

  CompletionStage<List<Document>> documents(DocumentKind kind) {
    return call(() -> link.command(CommandType.HGETALL, hash(kind)).thenApply(reply -> {
      List<Document> documents = new ArrayList<>();
      for (int i = 0; i < reply.size(); i += 2) {
        documents.add(document(Snapshot.name((byte[]) reply.get(i)), (byte[]) reply.get(i + 1)));
      }
      documents.sort(Comparator.comparing(Document::name));
      return documents;
    }));
  }

  CompletionStage<Boolean> write(DocumentKind kind, String name, long expectedVersion, byte @Nullable [] content) {
    return call(() -> link
        .step(Script.DOCUMENT, List.of(hash(kind), layout.global("documents")),
            List.of(Layout.bytes(name), Layout.bytes(expectedVersion), Layout.bytes(content == null ? 0 : 1),
                content == null ? NOTHING : DocumentFormat.frame(name, content)))
        .thenCompose(reply -> link.awaitReplicas(hash(kind))
            .thenApply(replicated -> (Long) reply.getFirst() == 1)));
  }
}
