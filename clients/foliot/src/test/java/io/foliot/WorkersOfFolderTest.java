package io.foliot;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@link Foliot#workers} after {@link Foliot#open}. */
final class WorkersOfFolderTest extends JobWorkerContract {
  @TempDir
  private Path folder;

  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.open(folder);
  }
}
