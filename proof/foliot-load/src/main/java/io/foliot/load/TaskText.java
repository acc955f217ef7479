package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.core.InstantText;

/**
 * The text of the submitted tasks: a payload of 100 bytes of JSON that begins with the task's number, and the due time.
 * All have the same length, so that a new one is a copy of another with a few changed digits.
 */
final class TaskText {
  /** Bytes of a payload. */
  static final int PAYLOAD_BYTES = 100;
  /** A delay that is longer than any run. */
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

  /** Returns a payload with the number 0. */
  static byte[] payloadBytes() {
    return PAYLOAD.getBytes(US_ASCII);
  }

  /** Writes the number into the payload at a position. */
  static void number(byte[] bytes, int payloadAt, int task) {
    HttpText.putDigits(bytes, payloadAt + NUMBER.length(), DIGITS, task);
  }

  /** Returns the number in the payload at a position, or -1. */
  static int number(byte[] bytes, int payloadAt) {
    return HttpText.digits(bytes, payloadAt + NUMBER.length(), DIGITS);
  }

  /** A task of any time: its text, with the positions of its number and its due time. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Form(byte[] bytes, int payloadAt, int dueAt) {
    /** Writes the number and the due time into a copy at a position. */
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

  /** Returns the form of a task whose due time is filled in. */
  static Form dueForm() {
    String head = DUE_AT + InstantText.format(0) + "\",\"payload\":";
    return new Form((head + PAYLOAD + "}").getBytes(US_ASCII), head.length(), DUE_AT.length());
  }

  /** Returns the form of a task that is due after the end of any run. */
  static Form laterForm() {
    String head = "{" + LATER + ",\"payload\":";
    return new Form((head + PAYLOAD + "}").getBytes(US_ASCII), head.length(), 0);
  }
}
