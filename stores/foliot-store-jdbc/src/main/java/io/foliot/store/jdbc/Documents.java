package io.foliot.store.jdbc;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.EnumCodes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration documents. The first version of a document is the time of its creation, in microseconds since 1970,
 * or the floor of {@link GenerationClock} if that is larger. So a version is not given out again after a delete,
 * although nothing of the deleted document is kept. Thread-safe.
 */
final class Documents {
  private final Dialect dialect;
  private final GenerationClock clock;
  private final SqlFiles.Template select;
  private final String insert;
  private final String update;
  private final String delete;

  Documents(Dialect dialect, GenerationClock clock) {
    this.dialect = dialect;
    this.clock = clock;
    select = dialect.files().template("documents", "named?");
    insert = dialect.files().text("insert_document");
    update = dialect.files().text("update_document");
    delete = dialect.files().text("delete_document");
  }

  /** Returns the document with this name if it exists; for a null name, all documents of the kind, sorted by name. */
  List<Document> find(Connection connection, DocumentKind kind, @Nullable String name) throws SQLException {
    try (PreparedStatement read = dialect.prepare(connection, select.when("named", name != null).text())) {
      dialect.text(read, 1, EnumCodes.nameOf(kind));
      if (name != null) {
        dialect.text(read, 2, name);
      }
      List<Document> found = new ArrayList<>();
      try (ResultSet row = read.executeQuery()) {
        while (row.next()) {
          found.add(new Document(dialect.text(row, 1), row.getLong(2),
              DocumentFormat.unframe(dialect.text(row, 1), row.getBytes(3))));
        }
      }
      return found;
    }
  }

  /**
   * Writes or deletes a document, if it has the expected version. Returns whether it had that version.
   *
   * @param expectedVersion the version that the document must have; 0 if it must not exist
   * @param content the new content, or null to delete the document
   */
  boolean write(Session session, DocumentKind kind, String name, long expectedVersion, byte @Nullable [] content)
      throws SQLException {
    if (content == null) {
      ensureLarger(session, expectedVersion);
    }
    return put(session, kind, name, expectedVersion, content);
  }

  /**
   * Ensures that the version of a deleted document is not used again. A document that is created later gets a larger
   * version, even if the clock is set back.
   */
  void ensureLarger(Session session, long version) throws SQLException {
    if (version > 0) {
      clock.raiseFloor(session, version + 1);
    }
  }

  /** Does the same as {@link #write}, but the caller must call {@link #ensureLarger} before a delete. */
  boolean put(Session session, DocumentKind kind, String name, long expectedVersion, byte @Nullable [] content)
      throws SQLException {
    if (expectedVersion == 0) {
      return content == null
          ? session.run(connection -> find(connection, kind, name)).isEmpty()
          : insert(session, kind, name, content);
    }
    return session.run(connection -> {
      try (PreparedStatement write = dialect.prepare(connection, content == null ? delete : update)) {
        int at = 1;
        if (content != null) {
          write.setBytes(at++, DocumentFormat.frame(name, content));
        }
        dialect.text(write, at++, EnumCodes.nameOf(kind));
        dialect.text(write, at++, name);
        write.setLong(at, expectedVersion);
        return write.executeUpdate() == 1;
      }
    });
  }

  private boolean insert(Session session, DocumentKind kind, String name, byte[] content) throws SQLException {
    long version = session
        .run(connection -> Math.max(dialect.clock().micros(connection), dialect.clock().floor(connection)));
    try {
      return session.guarded(connection -> {
        try (PreparedStatement write = dialect.prepare(connection, insert)) {
          dialect.text(write, 1, EnumCodes.nameOf(kind));
          dialect.text(write, 2, name);
          write.setLong(3, version);
          write.setBytes(4, DocumentFormat.frame(name, content));
          return write.executeUpdate() == 1;
        }
      });
    } catch (SQLException e) {
      if (dialect.isDuplicate(e)) {
        return false;
      }
      throw e;
    }
  }
}
