package io.foliot.bench.classic;

import io.foliot.wheel.TimerQueue;
import io.foliot.wheel.TimerQueueContract;

final class TreeQueueTest extends TimerQueueContract {
  @Override
  protected TimerQueue create(long startTick) {
    return new TreeQueue(startTick);
  }
}
