@NullMarked
package io.foliot.server.migrate;

import org.jspecify.annotations.NullMarked;
