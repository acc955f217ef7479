@NullMarked
package io.foliot.jobs.schedule;

import org.jspecify.annotations.NullMarked;
