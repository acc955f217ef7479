package io.foliot.cluster.zookeeper;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** What a member's node holds; its name is that of the node. */
record MemberRecord(String zone) {
  private static final int VERSION = 1;

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(zone);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** @throws IllegalArgumentException if it is none that this version can read */
  static MemberRecord decode(byte[] content) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IllegalArgumentException("a member from a newer Foliot: version=" + version);
      }
      return new MemberRecord(in.readUTF());
    } catch (IOException e) {
      throw new IllegalArgumentException("a member does not decode: bytes=" + content.length, e);
    }
  }
}
