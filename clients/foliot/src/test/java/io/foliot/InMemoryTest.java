package io.foliot;

/** Tests {@link Foliot#inMemory}. */
final class InMemoryTest extends FoliotContract {
  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.inMemory();
  }

  @Override
  boolean isDurable() {
    return false;
  }
}
