package io.foliot.cluster.zookeeper;

import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.UnreadableException;

/** The content of a member's znode. */
record MemberRecord(Member member) {
  private static final String SUBJECT = "member";

  byte[] encode() {
    return DocumentFormat.encode(SUBJECT,
        out -> out.text(member.zone()).u8(member.takesSlots() ? 1 : 0).near(member.clockOffsetMillis()));
  }

  /**
   * Decodes the bytes of {@link #encode}.
   *
   * @param node the member's name
   * @throws UnreadableException if the bytes cannot be decoded; the subclass of the exception gives the reason
   */
  static MemberRecord decode(String node, byte[] content) {
    return DocumentFormat.decode(SUBJECT, content,
        in -> new MemberRecord(new Member(node, in.text(), in.u8() != 0, in.near())));
  }
}
