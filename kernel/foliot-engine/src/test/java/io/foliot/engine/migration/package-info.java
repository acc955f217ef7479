@NullMarked
package io.foliot.engine.migration;

import org.jspecify.annotations.NullMarked;
