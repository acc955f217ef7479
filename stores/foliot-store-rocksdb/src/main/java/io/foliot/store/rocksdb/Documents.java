package io.foliot.store.rocksdb;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.DocumentFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksIterator;

/** The configuration documents. Any thread may read them; only the writer thread writes them. */
final class Documents {
  private static final int VERSION_BYTES = 8;

  private record Name(DocumentKind kind, String name) {}

  private final Database db;
  /** The documents written by the current commit; empty for a document that the commit deletes. */
  private final Map<Name, Optional<Document>> uncommitted = new HashMap<>();
  private long lastVersion;

  Documents(Database db) {
    this.db = db;
    byte[] stored = db.get(Family.META, Layout.META_DOCUMENT_VERSION);
    lastVersion = stored == null ? 0 : BytesReader.u64(stored, 0);
  }

  Optional<Document> find(DocumentKind kind, String name) {
    byte[] stored = db.get(Family.DOCUMENTS, Layout.document(new Bytes(64), kind, name).toArray());
    return stored == null ? Optional.empty() : Optional.of(decode(name, stored));
  }

  List<Document> all(DocumentKind kind) {
    byte[] prefix = Layout.document(new Bytes(32), kind, "").toArray();
    List<Document> found = new ArrayList<>();
    try (Database.Range range = db.range(prefix); RocksIterator iterator = db.iterator(Family.DOCUMENTS, range)) {
      for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
        byte[] key = iterator.key();
        String name = new String(key, prefix.length, key.length - prefix.length, StandardCharsets.UTF_8);
        found.add(decode(name, iterator.value()));
      }
      Database.check(iterator);
    }
    return List.copyOf(found);
  }

  /** Writes as {@link io.foliot.core.store.TaskStore#writeDocument} does, but into the batch of a commit. */
  boolean write(DocumentKind kind, String name, long expectedVersion, byte @Nullable [] content, Batch batch) {
    Name id = new Name(kind, name);
    Optional<Document> pending = uncommitted.get(id);
    Optional<Document> old = pending != null ? pending : find(kind, name);
    long oldVersion = old.map(Document::version).orElse(0L);
    if (oldVersion != expectedVersion) {
      return false;
    }
    Bytes key = Layout.document(new Bytes(64), kind, name);
    if (content == null) {
      uncommitted.put(id, Optional.empty());
      batch.delete(Family.DOCUMENTS, key);
      return true;
    }
    // A document that is new or was deleted gets a version above the highest ever assigned.
    long version = oldVersion == 0 ? lastVersion + 1 : oldVersion + 1;
    lastVersion = Math.max(lastVersion, version);
    uncommitted.put(id, Optional.of(new Document(name, version, content)));
    byte[] framed = DocumentFormat.frame(name, content);
    Bytes value = new Bytes(VERSION_BYTES + framed.length).u64(version).bytes(framed);
    batch.put(Family.DOCUMENTS, key, value);
    batch.put(Family.META, new Bytes(16).bytes(Layout.META_DOCUMENT_VERSION), new Bytes(8).u64(lastVersion));
    return true;
  }

  void committed() {
    uncommitted.clear();
  }

  static Document decode(String name, byte[] stored) {
    if (stored.length < VERSION_BYTES) {
      throw new DamagedException("a document is too short: name=" + name + ", bytes=" + stored.length, null);
    }
    byte[] framed = Arrays.copyOfRange(stored, VERSION_BYTES, stored.length);
    return new Document(name, BytesReader.u64(stored, 0), DocumentFormat.unframe(name, framed));
  }
}
