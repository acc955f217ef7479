package io.foliot.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides whether a history keeps the promises. {@link Violation.Kind} lists the ways in which it may break them.
 *
 * <p>The checker reports only violations that the order of invocations, answers and arrivals proves. Operations that
 * overlap may have happened in either order, and an operation without an answer may or may not have happened. A verdict
 * without violations is therefore no proof. Its {@link Verdict#counts} show how much was observed.
 *
 * <p>The receiver must record each attempt before examining it, and each answer before sending it. The system under
 * test must not shorten due times ({@code maxWait}), and an idempotency key must not be reused for another task.
 */
public final class HistoryChecker {
  /*
   * Run joins events to operations and deliveries. Chains groups these by key, or by task if there is no key. Each
   * chain is then checked separately. Its firings are in the order of their generations; this is the order in which the
   * store made them, whatever the order of the answers. Apart from sorting and binary search, most rules take time
   * linear in the length of the chain. So a key that is reset a million times costs no more than a million keys. A
   * firing costs more only if no answer names it, or if it has many attempts.
   *
   * We rejected a search for a linearization, as in Knossos or Porcupine. It would find no more, because the
   * generations already show the order of the writes. Its time is exponential in the number of operations without an
   * answer.
   */
  private final Allowances allowances;

  public HistoryChecker(Allowances allowances) {
    this.allowances = allowances;
  }

  public Verdict check(History history) {
    return check(history.events());
  }

  /**
   * Returns the verdict on the events of a history.
   *
   * @throws IllegalArgumentException if the events are not a valid history or lack {@link Event.RunEnded}, or if there
   *         is a fault although {@link Allowances#faultFree} is set
   */
  public Verdict check(List<Event> events) {
    Findings findings = new Findings();
    Run run = new Run(events, allowances);
    if (allowances.faultFree() && !run.faults.isEmpty()) {
      throw new IllegalArgumentException("the history has faults, but the allowances exclude them: faultFree=true");
    }
    Chains chains = new Chains(run, allowances.clockErrorMillis(), findings);
    Map<String, Firing> firingIds = new HashMap<>();
    Map<String, List<Explanation.Unacked>> keyless = new HashMap<>();
    for (Chain chain : chains.all) {
      new ChainCheck(chain, run, allowances, findings).check(firingIds,
          keyless.computeIfAbsent(chain.queue, queue -> new ArrayList<>()));
    }
    keyless.forEach((queue, firings) -> Explanation.check(firings,
        chains.keylessMakers.getOrDefault(queue, List.of()), allowances.clockErrorMillis(), findings));
    return findings.verdict(run);
  }
}
