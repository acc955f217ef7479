/**
 * Tests of timing wheels. The package is not null-marked, because the tests pass null to methods that reject it, and
 * use map lookups without a null check.
 */
@NullUnmarked
package io.foliot.wheel;

import org.jspecify.annotations.NullUnmarked;
