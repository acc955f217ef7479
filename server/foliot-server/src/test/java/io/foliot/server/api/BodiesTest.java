package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests that a body is read completely or refused, and that all bodies together stay within a budget. */
class BodiesTest {
  private final Bodies bodies = new Bodies(200_000);

  private static ByteArrayInputStream stream(int length) {
    return new ByteArrayInputStream(new byte[length]);
  }

  @Test
  void aBodyIsReadWhetherItsLengthIsKnownOrNot() throws IOException {
    for (int length : new int[]{0, 1, 32_767, 32_768, 32_769, 49_999}) {
      try (Bodies.Share share = bodies.share()) {
        assertThat(share.read(stream(length), length, 50_000)).hasSize(length);
      }
      try (Bodies.Share share = bodies.share()) {
        assertThat(share.read(stream(length), -1, 50_000)).hasSize(length);
      }
      assertThat(bodies.held()).isZero();
    }
  }

  @Test
  void aBodyLargerThanTheCallAcceptsIsRefused() {
    try (Bodies.Share share = bodies.share()) {
      assertThatThrownBy(() -> share.read(stream(0), 20_001, 20_000)).isInstanceOfSatisfying(Problem.class,
          problem -> assertThat(problem.kind()).isEqualTo(ProblemKind.TOO_LARGE));
      for (int length : new int[]{20_001, 40_000, 70_000}) {
        assertThatThrownBy(() -> share.read(stream(length), -1, 20_000)).isInstanceOfSatisfying(Problem.class,
            problem -> assertThat(problem.kind()).isEqualTo(ProblemKind.TOO_LARGE));
      }
    }
    assertThat(bodies.held()).isZero();
  }

  @Test
  void aBodyThatEndsEarlyIsRefused() {
    try (Bodies.Share share = bodies.share()) {
      assertThatThrownBy(() -> share.read(stream(5), 6, 100)).isInstanceOf(Problem.class);
      assertThatThrownBy(() -> share.read(stream(40_000), 50_000, 60_000)).isInstanceOf(Problem.class);
    }
  }

  @Test
  void theMemoryOfAllRequestsIsBounded() throws IOException {
    try (Bodies.Share first = bodies.share(); Bodies.Share second = bodies.share()) {
      first.read(stream(90_000), 90_000, 100_000);
      assertThatThrownBy(() -> second.read(stream(90_000), 90_000, 100_000)).isInstanceOfSatisfying(Problem.class,
          problem -> {
            assertThat(problem.kind()).isEqualTo(ProblemKind.OVERLOADED);
            assertThat(problem.headers()).containsKey("Retry-After");
          });
      assertThatThrownBy(() -> second.read(stream(90_000), -1, 100_000)).isInstanceOf(Problem.class);
      assertThat(bodies.held()).isLessThanOrEqualTo(200_000);
    }
    assertThat(bodies.held()).isZero();
  }
}
