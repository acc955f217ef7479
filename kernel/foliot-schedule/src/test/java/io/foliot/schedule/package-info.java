@NullMarked
package io.foliot.schedule;

import org.jspecify.annotations.NullMarked;
