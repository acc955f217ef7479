package io.foliot.core.store;

import java.util.List;

/**
 * The results of claims.
 *
 * @param nowMillis the store's clock when it decided them; if slots have clocks of their own, the latest
 * @param results one per claim
 */
public record ClaimBatch(long nowMillis, List<ClaimResult> results) {}
