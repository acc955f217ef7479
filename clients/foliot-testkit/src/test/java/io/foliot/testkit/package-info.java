/** Tests of the kit: that it passes on what is right, and fails on what is wrong. */
@NullMarked
package io.foliot.testkit;

import org.jspecify.annotations.NullMarked;
