package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoomGateTest {
  private final RoomGate gate = new RoomGate();

  @Test
  void anOpenGateLimitsNothing() {
    gate.recorded(5);
    gate.claimed(6);
    assertThat(gate.limit(7)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void aHeldEndKeepsTheGateClosed() {
    gate.hold();
    gate.refused(0);
    gate.recorded(1);
    assertThat(gate.limit(100 * RoomGate.PROBE_NANOS)).isZero();
    gate.letGo();
    gate.recorded(2);
    assertThat(gate.isOpen()).isTrue();
  }

  @Test
  void withoutAHeldEndOneTaskIsClaimedAfterEachPause() {
    gate.refused(0);
    assertThat(gate.limit(RoomGate.PROBE_NANOS - 1)).isZero();
    assertThat(gate.limit(RoomGate.PROBE_NANOS)).isEqualTo(1);
    gate.claimed(RoomGate.PROBE_NANOS);
    assertThat(gate.limit(RoomGate.PROBE_NANOS)).isZero();
    assertThat(gate.limit(2 * RoomGate.PROBE_NANOS)).isEqualTo(1);
    gate.recorded(2 * RoomGate.PROBE_NANOS);
    assertThat(gate.isOpen()).isTrue();
  }
}
