@NullMarked
package io.foliot.client;

import org.jspecify.annotations.NullMarked;
