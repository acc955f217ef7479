package io.foliot.core.store;

import java.util.List;

/**
 * The results of claims.
 *
 * @param nowMillis the store's time when it decided the claims; the latest time if slots have clocks of their own
 * @param results one result per claim, in the order of the claims
 */
public record ClaimBatch(long nowMillis, List<ClaimResult> results) {}
