package io.foliot.cluster.zookeeper;

import static io.foliot.testkit.DocumentContract.assertGuarded;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Coordinator.Member;
import org.junit.jupiter.api.Test;

final class MemberRecordTest {
  @Test
  void aMemberIsReadAsItWasWritten() {
    for (Member member : new Member[]{new Member("n", ""), new Member("n", "east", false, Long.MIN_VALUE)}) {
      assertThat(MemberRecord.decode("n", new MemberRecord(member).encode()).member()).isEqualTo(member);
    }
  }

  @Test
  void aDamagedRecordIsRefused() {
    assertGuarded("member", new MemberRecord(new Member("n", "east", true, -12)).encode(),
        bytes -> MemberRecord.decode("n", bytes));
  }
}
