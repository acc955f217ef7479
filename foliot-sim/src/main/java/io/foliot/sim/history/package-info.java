/**
 * The history checker: says, from what clients asked and what receivers saw, whether the promises were kept.
 *
 * <p>
 * Plain Java without any of Foliot, so that it shares no mistake with it. A {@link io.foliot.sim.history.History} records
 * {@link io.foliot.sim.history.Event events}; a {@link io.foliot.sim.history.HistoryChecker} turns it into a
 * {@link io.foliot.sim.history.Verdict}. All times are wall times in milliseconds, of clocks that differ by no more than
 * {@link io.foliot.sim.history.Allowances#clockErrorMillis}.
 */
@NullMarked
package io.foliot.sim.history;

import org.jspecify.annotations.NullMarked;
