/** The quick run of the stress, and the proof that it can fail. */
@NullMarked
package io.foliot.wheel;

import org.jspecify.annotations.NullMarked;
