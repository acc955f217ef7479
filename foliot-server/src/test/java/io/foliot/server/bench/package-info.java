@NullMarked
package io.foliot.server.bench;

import org.jspecify.annotations.NullMarked;
