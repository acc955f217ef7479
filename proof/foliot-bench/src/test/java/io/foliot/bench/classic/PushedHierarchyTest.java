package io.foliot.bench.classic;

import io.foliot.bench.classic.RadixHierarchy.Turning;

final class PushedHierarchyTest extends RadixHierarchyContract {
  PushedHierarchyTest() {
    super(Turning.PUSHED_FROM_BELOW);
  }
}
