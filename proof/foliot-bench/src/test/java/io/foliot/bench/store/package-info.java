@NullMarked
package io.foliot.bench.store;

import org.jspecify.annotations.NullMarked;
