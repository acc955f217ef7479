/**
 * Foliot for the tests of applications. Time passes only when the test advances it, and everything runs on the test's
 * thread.
 */
@NullMarked
package io.foliot.test;

import org.jspecify.annotations.NullMarked;
