package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.core.InstantText;

/**
 * The tasks that are sent: a payload of 100 bytes of JSON that begins with the task's number, and when it is due. All
 * have the same length, so that making one is copying another and writing a few digits.
 */
final class TaskText {
  /** Bytes of a payload. */
  static final int PAYLOAD_BYTES = 100;
  /** A delay that no run outlasts. */
  static final String LATER = "\"delay\":\"24h\"";

  private static final int DIGITS = 10;
  private static final String NUMBER = "{\"task\":\"";
  private static final String DUE_AT = "{\"dueAt\":\"";
  private static final String PAYLOAD = payload();

  private TaskText() {}

  private static String payload() {
    String head = NUMBER + "0".repeat(DIGITS) + "\",\"pad\":\"";
    return head + "x".repeat(PAYLOAD_BYTES - head.length() - 2) + "\"}";
  }

  /** A payload with the number 0. */
  static byte[] payloadBytes() {
    return PAYLOAD.getBytes(US_ASCII);
  }

  /** Writes the number into a payload that begins there. */
  static void number(byte[] bytes, int payloadAt, int task) {
    HttpText.putDigits(bytes, payloadAt + NUMBER.length(), DIGITS, task);
  }

  /** The number in a payload that begins there, or -1. */
  static int number(byte[] bytes, int payloadAt) {
    return HttpText.digits(bytes, payloadAt + NUMBER.length(), DIGITS);
  }

  /** A task of any time: its text, with the positions of its number and its due time. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Form(byte[] bytes, int payloadAt, int dueAt) {
    /** Writes number and due time into a copy that begins there. */
    void fill(byte[] copy, int at, int task, long dueMillis) {
      TaskText.number(copy, at + payloadAt, task);
      if (dueAt > 0) {
        String due = InstantText.format(dueMillis);
        for (int i = 0; i < due.length(); i++) {
          copy[at + dueAt + i] = (byte) due.charAt(i);
        }
      }
    }
  }

  /** The form of a task that is due at an instant to be filled in. */
  static Form dueForm() {
    String head = DUE_AT + InstantText.format(0) + "\",\"payload\":";
    return new Form((head + PAYLOAD + "}").getBytes(US_ASCII), head.length(), DUE_AT.length());
  }

  /** The form of a task that is due later than anybody waits. */
  static Form laterForm() {
    String head = "{" + LATER + ",\"payload\":";
    return new Form((head + PAYLOAD + "}").getBytes(US_ASCII), head.length(), 0);
  }
}
