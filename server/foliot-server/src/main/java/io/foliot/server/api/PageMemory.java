package io.foliot.server.api;

/**
 * The memory of a page that is read in parts. The size of a record is unknown before the record is read, so the page
 * reserves memory for records of the largest size. One half of the memory of an answer holds the records that the page
 * has read so far, and the other half holds the next part. Used by one thread.
 */
final class PageMemory {
  // Once the records of a page exceed this size, only short parts may follow: the end of the page, or parts of sparse
  // records. The number of records alone would not bound a page, because a page contains payloads.
  private static final long PAGE_BYTES = 4L << 20;
  /** Maximum number of records of one part. */
  private static final int RECORDS_AT_ONCE = 50;
  private static final int PARTS_OF_PAGE = 2;
  /**
   * Number of further records for which a page keeps memory once its records are sparse. They are sparse once a part
   * was shorter than requested. Each of the further records is assumed to have the largest size.
   */
  private static final int SPARSE_RECORDS = 4;
  /** Maximum number of records of one part once the records are sparse. */
  private static final int SPARSE_PART = 2;

  private final AnswerMemory.Share memory;
  private final long largest;
  private int atOnce;
  private long room;
  private int left;
  private long bytes;

  /**
   * Reserves the memory of a page.
   *
   * @param limit the largest number of records of the page
   * @param largest the memory of a record of the largest size, in bytes
   * @throws Problem if there is no room, see {@link AnswerMemory.Share#reserve}
   */
  PageMemory(AnswerMemory.Share memory, int limit, long largest) {
    this.memory = memory;
    this.largest = largest;
    left = limit;
    long partBytes = memory.mostBytes() / PARTS_OF_PAGE;
    atOnce = Math.clamp(partBytes / largest, 1, RECORDS_AT_ONCE);
    room = Math.min(limit * largest, Math.min(partBytes, PAGE_BYTES * AnswerMemory.COPIES) + atOnce * largest);
    memory.reserve(room);
  }

  /** Returns the largest number of records of the next part; 0 if the page has no room for another part. */
  int next() {
    int records = Math.min(atOnce, left);
    return bytes + records * largest <= room ? records : 0;
  }

  /** Adds a part that was read, and the memory of its records. */
  void add(int records, long recordBytes) {
    left -= records;
    bytes += recordBytes;
  }

  /** Keeps memory for only a few further records, because the rest of the scan may take long. */
  void becomesSparse() {
    if (atOnce > SPARSE_PART) {
      atOnce = SPARSE_PART;
      room = Math.min(room, bytes + SPARSE_RECORDS * largest);
      memory.holds(room);
    }
  }

  /** Keeps memory only for the records that were read. */
  void end() {
    memory.holds(bytes);
  }
}
