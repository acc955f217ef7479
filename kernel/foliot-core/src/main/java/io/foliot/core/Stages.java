package io.foliot.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

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
}
