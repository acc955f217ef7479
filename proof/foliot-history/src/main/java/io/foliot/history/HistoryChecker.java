package io.foliot.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Judges a history by the promises.
 *
 * <p> It reports what the order of invocations, answers and arrivals proves, and nothing else: operations that overlap
 * may have happened in either order, and one without an answer may have happened or not. A possible violation does not
 * count against the system, so a clean verdict is no proof; its {@link Verdict#counts} show how much was observed.
 *
 * <p> A receiver records an attempt before it examines it, and its answer before it sends it. The system under test
 * must not shorten due times ({@code maxWait}), and an idempotency key must not be used again for another task.
 */
public final class HistoryChecker {
  /*
   * Events are joined to operations and deliveries (Run), these are sorted by key, or by task where there is none
   * (Chains), and each chain is judged for itself, its firings in the order of their generations, which is the order in
   * which the store made them, in any order of the answers. Each rule is linear in a chain except for sorting and
   * binary search, so a key that is reset a million times costs no more than a million keys.
   *
   * Rejected: a search for a linearization as Knossos or Porcupine do it. It would say no more, because generations
   * give the order of the writes away, and costs exponential time where operations without an answer pile up.
   */
  private final Allowances allowances;

  public HistoryChecker(Allowances allowances) {
    this.allowances = allowances;
  }

  public Verdict check(History history) {
    return check(history.events());
  }

  /**
   * As {@link #check(History)}.
   *
   * @throws IllegalArgumentException for events that are no history, or one without {@link Event.RunEnded}, or one with
   *         faults though the allowances say that there are none
   */
  public Verdict check(List<Event> events) {
    Findings findings = new Findings();
    Run run = new Run(events, allowances);
    if (allowances.faultFree() && !run.faults.isEmpty()) {
      throw new IllegalArgumentException("a history with faults is not fault-free");
    }
    Chains chains = new Chains(run, allowances.clockErrorMillis(), findings);
    Map<String, Firing> firingIds = new HashMap<>();
    Map<String, List<Explanation.Wanting>> keyless = new HashMap<>();
    for (Chain chain : chains.all) {
      new ChainCheck(chain, run, allowances, findings).check(firingIds,
          keyless.computeIfAbsent(chain.queue, queue -> new ArrayList<>()));
    }
    keyless.forEach((queue, firings) -> Explanation.check(firings,
        chains.keylessMakers.getOrDefault(queue, List.of()), allowances.clockErrorMillis(), findings));
    return findings.verdict(run);
  }
}
