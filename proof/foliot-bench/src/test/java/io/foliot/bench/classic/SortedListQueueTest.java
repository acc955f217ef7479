package io.foliot.bench.classic;

import io.foliot.wheel.TimerQueue;
import io.foliot.wheel.TimerQueueContract;

final class SortedListQueueTest extends TimerQueueContract {
  @Override
  protected TimerQueue create(long startTick) {
    return new SortedListQueue(startTick);
  }
}
