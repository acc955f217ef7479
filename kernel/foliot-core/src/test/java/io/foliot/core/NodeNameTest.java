package io.foliot.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class NodeNameTest {
  @Test
  void hostNamesAreCutAndInvalidCharactersReplaced() {
    assertThat(NodeName.of("büro 1", new SplittableRandom(1))).matches("b-ro-1-[0-9a-f]{5}");
    assertThat(NodeName.of("h".repeat(300), new SplittableRandom(1))).matches("h{48}-[0-9a-f]{5}");
  }

  @Test
  void twoNodesOfOneHostHaveDifferentNames() {
    SplittableRandom random = new SplittableRandom(1);
    assertThat(NodeName.ofThisHost(random)).matches("[A-Za-z0-9._-]+").isNotEqualTo(NodeName.ofThisHost(random));
  }
}
