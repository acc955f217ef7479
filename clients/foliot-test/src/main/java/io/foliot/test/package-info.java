/**
 * Foliot for the tests of applications. The test advances the clock, and everything runs on the test's thread.
 */
@NullMarked
package io.foliot.test;

import org.jspecify.annotations.NullMarked;
