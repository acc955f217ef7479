package io.foliot.core;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls of code that returns a stage and may throw instead. */
public final class Stages {
  private Stages() {}

  /** Makes a call; returns its stage, or a failed stage if the call throws a {@link RuntimeException}. */
  public static <T> CompletionStage<T> call(Supplier<CompletionStage<T>> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Reads one page of a list. */
  public interface Page {
    /**
     * Reads a page, and returns the cursor of the next one; empty after the last page.
     *
     * @param cursor the cursor that the page before returned; null for the first page
     */
    CompletionStage<Optional<String>> read(@Nullable String cursor);
  }

  /**
   * Reads all pages of a list, one after the other. The stage completes after the last page, or fails with the first
   * page that fails. The depth of the stack does not depend on the number of pages, even if all reads complete at once.
   */
  public static CompletionStage<Void> pages(Page page) {
    CompletableFuture<Void> all = new CompletableFuture<>();
    readFrom(null, page, all);
    return all;
  }

  private static void readFrom(@Nullable String first, Page page, CompletableFuture<Void> all) {
    String cursor = first;
    do {
      String next = cursor;
      CompletableFuture<Optional<String>> read = call(() -> page.read(next)).toCompletableFuture();
      if (!read.isDone()) {
        CompletableFuture<?> unused = read.whenComplete((after, failure) -> {
          if (failure != null) {
            all.completeExceptionally(failure);
          } else if (after.isPresent()) {
            readFrom(after.get(), page, all);
          } else {
            all.complete(null);
          }
        });
        return;
      }
      if (read.isCompletedExceptionally()) {
        all.completeExceptionally(read.exceptionNow());
        return;
      }
      cursor = read.join().orElse(null);
    } while (cursor != null);
    all.complete(null);
  }
}
