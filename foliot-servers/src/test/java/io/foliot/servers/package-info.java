@NullMarked
package io.foliot.servers;

import org.jspecify.annotations.NullMarked;
