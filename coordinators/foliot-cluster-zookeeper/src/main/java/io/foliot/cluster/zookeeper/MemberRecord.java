package io.foliot.cluster.zookeeper;

import io.foliot.core.coordination.Coordinator.Member;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** What a member's node holds. */
record MemberRecord(Member member) {
  private static final int VERSION = 1;

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(member.zone());
      out.writeBoolean(member.takesSlots());
      out.writeLong(member.clockOffsetMillis());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Reads what a node holds.
   *
   * @param node its name
   * @throws IllegalArgumentException if it is none that this version can read
   */
  static MemberRecord decode(String node, byte[] content) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IllegalArgumentException("a member from a newer Foliot: version=" + version);
      }
      return new MemberRecord(new Member(node, in.readUTF(), in.readBoolean(), in.readLong()));
    } catch (IOException e) {
      throw new IllegalArgumentException("a member does not decode: bytes=" + content.length, e);
    }
  }
}
