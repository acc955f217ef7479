package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.api.InstantText;

/**
 * The JSON of the submitted tasks: the due time or a delay, and a payload that begins with the task's number. All tasks
 * of a form have the same length, so the text of a task is a copy of its form with other digits.
 */
final class TaskText {
  /** Length of a payload in bytes. */
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

  /** Writes a task's number into the payload that begins at {@code payloadAt}. */
  static void number(byte[] bytes, int payloadAt, int task) {
    HttpText.putDigits(bytes, payloadAt + NUMBER.length(), DIGITS, task);
  }

  /** Returns the number in the payload that begins at {@code payloadAt}, or -1 if there is none. */
  static int number(byte[] bytes, int payloadAt) {
    return HttpText.digits(bytes, payloadAt + NUMBER.length(), DIGITS);
  }

  /**
   * The text of a task, with the positions to fill in.
   *
   * @param payloadAt the index of the payload
   * @param dueAt the index of the due time; 0 if the due time is not filled in
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Form(byte[] bytes, int payloadAt, int dueAt) {
    /** Writes a number and a due time into a copy of this form that begins at {@code at}. */
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
