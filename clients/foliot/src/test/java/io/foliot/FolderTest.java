package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@link Foliot#open}. */
final class FolderTest extends FoliotContract {
  @TempDir
  Path folder;

  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.open(folder);
  }

  @Override
  boolean isDurable() {
    return true;
  }

  @Test
  void aFolderInUseIsRefusedAndItsUserStillSubmits() {
    try (Foliot foliot = Foliot.open(folder)) {
      assertThatThrownBy(() -> Foliot.open(folder)).hasMessageContaining("in use");
      assertThat(foliot.tasks("q", String.class).now().submit("x").result()).isEqualTo(Submitted.Result.CREATED);
    }
  }
}
