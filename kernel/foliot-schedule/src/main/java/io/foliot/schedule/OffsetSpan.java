package io.foliot.schedule;

import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

/**
 * The seconds between two clock changes of a zone. The offset of the zone is constant during the span.
 *
 * @param start the first second of the span, since the epoch; {@link Long#MIN_VALUE} if there is no earlier change
 * @param end the first second after the span, since the epoch; {@link Long#MAX_VALUE} if no change follows
 * @param offset local time minus UTC, in seconds
 * @param offsetBefore the offset before {@code start}: smaller if the span begins with a gap, larger if it begins with
 *     an overlap, equal if there is no earlier change
 */
record OffsetSpan(long start, long end, int offset, int offsetBefore) {
  /** Returns the span of a zone that contains a second since the epoch. */
  static OffsetSpan at(ZoneRules rules, long second) {
    Instant instant = Instant.ofEpochSecond(second);
    int offset = rules.getOffset(instant).getTotalSeconds();
    if (rules.isFixedOffset()) {
      return new OffsetSpan(Long.MIN_VALUE, Long.MAX_VALUE, offset, offset);
    }
    // A change exactly at the second begins this span.
    ZoneOffsetTransition first = rules.previousTransition(instant.plusSeconds(1));
    ZoneOffsetTransition last = rules.nextTransition(instant);
    return new OffsetSpan(first == null ? Long.MIN_VALUE : first.toEpochSecond(),
        last == null ? Long.MAX_VALUE : last.toEpochSecond(), offset,
        first == null ? offset : first.getOffsetBefore().getTotalSeconds());
  }

  boolean contains(long second) {
    return start <= second && second < end;
  }

  /** Returns whether local times were skipped just before this span. */
  boolean beginsWithGap() {
    return offsetBefore < offset;
  }

  /** Returns whether this span begins with local times that the span before it also has. */
  boolean beginsWithOverlap() {
    return offsetBefore > offset;
  }

  /** Returns the end of the previous span, in the local time of that span. */
  long localEndBefore() {
    return start + offsetBefore;
  }

  long localStart() {
    return start + offset;
  }

  long localEnd() {
    return end == Long.MAX_VALUE ? Long.MAX_VALUE : end + offset;
  }
}
