/**
 * The history checker. It decides whether all promises were kept, from the requests of clients and the deliveries to
 * receivers.
 *
 * <p>
 * The package uses no code of Foliot, so it shares no mistake with Foliot. A {@link io.foliot.history.History} records
 * {@link io.foliot.history.Event events}; a {@link io.foliot.history.HistoryChecker} turns it into a
 * {@link io.foliot.history.Verdict}. All times are wall times in milliseconds, of clocks that differ by no more than
 * {@link io.foliot.history.Allowances#clockErrorMillis}.
 */
@NullMarked
package io.foliot.history;

import org.jspecify.annotations.NullMarked;
