/** Moving all live tasks from one store to another. */
@NullMarked
package io.foliot.server.migrate;

import org.jspecify.annotations.NullMarked;
