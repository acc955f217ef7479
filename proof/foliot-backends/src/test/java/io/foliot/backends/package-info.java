@NullMarked
package io.foliot.backends;

import org.jspecify.annotations.NullMarked;
