@NullMarked
package io.foliot.load;

import org.jspecify.annotations.NullMarked;
