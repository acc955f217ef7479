package io.foliot.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

final class StagesTest {
  @Test
  void manyPagesThatAreThereAtOnceNeedNoStack() {
    int pages = 200_000;
    List<String> cursors = new ArrayList<>();
    CompletionStage<Void> all = Stages.pages(cursor -> {
      cursors.add(String.valueOf(cursor));
      int next = cursors.size();
      return CompletableFuture.completedFuture(next == pages ? Optional.empty() : Optional.of(Integer.toString(next)));
    });
    assertThat(all.toCompletableFuture()).isCompleted();
    assertThat(cursors).hasSize(pages).startsWith("null", "1", "2").endsWith(Integer.toString(pages - 1));
  }

  @Test
  void aPageIsReadAfterThePageBefore() {
    List<CompletableFuture<Optional<String>>> reads = new ArrayList<>();
    CompletableFuture<Void> all = Stages.pages(cursor -> {
      reads.add(new CompletableFuture<>());
      return reads.getLast();
    }).toCompletableFuture();
    assertThat(reads).hasSize(1);
    reads.getLast().complete(Optional.of("a"));
    assertThat(reads).hasSize(2);
    assertThat(all).isNotDone();
    reads.getLast().complete(Optional.empty());
    assertThat(all).isCompleted();
  }

  @Test
  void aPageThatFailsEndsTheRead() {
    IllegalStateException failure = new IllegalStateException("broken");
    CompletableFuture<Optional<String>> late = new CompletableFuture<>();
    CompletableFuture<Void> all = Stages.pages(cursor -> late).toCompletableFuture();
    late.completeExceptionally(failure);
    assertThat(all.exceptionNow()).isEqualTo(failure);
    assertThat(Stages.pages(cursor -> CompletableFuture.failedFuture(failure)).toCompletableFuture().exceptionNow())
        .isEqualTo(failure);
    assertThat(Stages.pages(cursor -> {
      throw failure;
    }).toCompletableFuture().exceptionNow()).isEqualTo(failure);
  }
}
