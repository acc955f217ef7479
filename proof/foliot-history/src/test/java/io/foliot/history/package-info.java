@NullMarked
package io.foliot.history;

import org.jspecify.annotations.NullMarked;
