@NullMarked
package io.foliot.kill;

import org.jspecify.annotations.NullMarked;
