package io.foliot.client;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Iterates over the tasks of all pages of a list, and reads one page at a time. For use by one thread. */
final class TaskPages implements Iterator<TaskView> {
  private final Function<@Nullable String, TaskPage> read;
  private Iterator<TaskView> page;
  private @Nullable String cursor;

  /**
   * Reads the first page.
   *
   * @param read reads the page at a cursor, or the first page for null
   */
  TaskPages(Function<@Nullable String, TaskPage> read) {
    this.read = read;
    page = readPage(null);
  }

  private Iterator<TaskView> readPage(@Nullable String at) {
    TaskPage next = read.apply(at);
    cursor = next.nextCursor();
    return next.tasks().iterator();
  }

  @Override
  public boolean hasNext() {
    while (!page.hasNext() && cursor != null) {
      page = readPage(cursor);
    }
    return page.hasNext();
  }

  @Override
  public TaskView next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the list has no further task");
    }
    return page.next();
  }
}
