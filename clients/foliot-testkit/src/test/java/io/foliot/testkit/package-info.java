/** Tests of the kit: the kit passes on correct stores, and fails on broken stores. */
@NullMarked
package io.foliot.testkit;

import org.jspecify.annotations.NullMarked;
