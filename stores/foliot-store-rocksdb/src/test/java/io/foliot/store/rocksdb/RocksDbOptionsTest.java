package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.StoreException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class RocksDbOptionsTest {
  @Test
  void theBuilderKeepsAllOptionsAndChecksTheSlots() {
    Consumer<StoreException> onFailure = failure -> {};
    RocksDbOptions full = RocksDbOptions.builder().slots(2).recordCacheBytes(1).blockCacheBytes(2)
        .writeBufferBytes(3 << 20).logBytes(4 << 20).reserveBytes(5).onFailure(onFailure).build();
    assertThat(full).isEqualTo(new RocksDbOptions(2, 1, 2, 3 << 20, 4 << 20, 5, onFailure));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThatThrownBy(() -> full.toBuilder().slots(3).build()).hasMessageContaining("power of two");
  }
}
