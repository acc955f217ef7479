/** The migration of all live tasks from one store to another. */
@NullMarked
package io.foliot.engine.migration;

import org.jspecify.annotations.NullMarked;
