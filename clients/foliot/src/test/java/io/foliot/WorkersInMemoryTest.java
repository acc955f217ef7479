package io.foliot;

/** Tests {@link Foliot#workers} after {@link Foliot#inMemory}. */
final class WorkersInMemoryTest extends JobWorkerContract {
  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.inMemory();
  }
}
