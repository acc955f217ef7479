package io.foliot.bench.classic;

import io.foliot.bench.classic.RadixHierarchy.Turning;

final class OwnIntervalHierarchyTest extends RadixHierarchyContract {
  OwnIntervalHierarchyTest() {
    super(Turning.OWN_INTERVAL);
  }
}
