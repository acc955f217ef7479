package io.foliot.jobs;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.ScheduleSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The named calendars of a store; each is a document. Each planning pass reads the calendars that its job names, so a
 * change takes effect with the next pass. A calendar that cannot be decoded is treated as missing until a caller puts
 * it again; only the jobs that name it are affected. Thread-safe.
 */
final class Calendars {
  private static final System.Logger LOG = System.getLogger(Calendars.class.getName());
  private static final String SUBJECT = "calendar";

  private final TaskStore store;

  Calendars(TaskStore store) {
    this.store = store;
  }

  /** Returns a lookup of the calendars that a schedule names. The lookup returns null for a missing calendar. */
  CompletionStage<Function<String, @Nullable Calendar>> of(ScheduleSettings schedule) {
    Map<String, Calendar> known = new HashMap<>();
    CompletionStage<Void> read = CompletableFuture.completedFuture(null);
    for (String name : schedule.exclude()) {
      read = read.thenCompose(done -> find(name)).thenAccept(found -> found.ifPresent(one -> known.put(name, one)));
    }
    return read.thenApply(done -> known::get);
  }

  CompletionStage<Optional<Calendar>> find(String name) {
    return Jobs.isName(name)
        ? store.document(DocumentKind.CALENDAR, name).thenApply(found -> found.flatMap(Calendars::readable))
        : CompletableFuture.completedFuture(Optional.empty());
  }

  /** Returns all calendars by name. */
  CompletionStage<Map<String, Calendar>> all() {
    return store.documents(DocumentKind.CALENDAR).thenApply(documents -> {
      Map<String, Calendar> all = new HashMap<>();
      documents.forEach(document -> readable(document).ifPresent(calendar -> all.put(document.name(), calendar)));
      return all;
    });
  }

  /**
   * Writes a calendar, or deletes it if {@code calendar} is null. Returns whether a calendar of this name existed
   * before; false, without a change, if the name is not valid.
   */
  CompletionStage<Boolean> put(String name, @Nullable Calendar calendar) {
    if (!Jobs.isName(name)) {
      return CompletableFuture.completedFuture(false);
    }
    return store.document(DocumentKind.CALENDAR, name).thenCompose(found -> {
      long version = found.map(Document::version).orElse(0L);
      if (calendar == null && version == 0) {
        return CompletableFuture.completedFuture(false);
      }
      return store.writeDocument(DocumentKind.CALENDAR, name, version, calendar == null ? null : encode(calendar))
          .thenCompose(written -> written ? CompletableFuture.completedFuture(version != 0) : put(name, calendar));
    });
  }

  private static byte[] encode(Calendar calendar) {
    List<String> entries = calendar.entries();
    return DocumentFormat.encode(SUBJECT, out -> {
      out.varint(entries.size());
      entries.forEach(out::text);
    });
  }

  private static Optional<Calendar> readable(Document document) {
    try {
      return Optional.of(decode(document));
    } catch (UnreadableException e) {
      LOG.log(System.Logger.Level.ERROR,
          "cannot decode a calendar; jobs that name it wait until it is put again: calendar="
              + document.name() + ", reason=" + e.getMessage());
      return Optional.empty();
    }
  }

  private static Calendar decode(Document document) {
    return DocumentFormat.decode(SUBJECT, document.content(), in -> {
      List<String> entries = new ArrayList<>();
      for (int left = in.varint(); left > 0; left--) {
        entries.add(in.text());
      }
      return Calendar.parse(entries);
    });
  }
}
