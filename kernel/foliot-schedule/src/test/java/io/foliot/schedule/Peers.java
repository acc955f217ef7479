package io.foliot.schedule;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.text.ParseException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Date;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;
import org.quartz.CronExpression;

/** An evaluator of cron expressions: an adapter to another project's evaluator, or a schedule of Foliot. */
interface Peers {
  /** Returns the first time after an instant, or null if there is none. */
  @Nullable
  Instant next(Instant after);

  static Peers spring(String cron, ZoneId zone) {
    var expression = org.springframework.scheduling.support.CronExpression.parse(cron);
    return after -> {
      var next = expression.next(after.atZone(zone));
      return next == null ? null : next.toInstant();
    };
  }

  static Peers quartz(String cron, ZoneId zone) {
    CronExpression expression;
    try {
      expression = new CronExpression(cron);
    } catch (ParseException e) {
      throw new IllegalArgumentException(e);
    }
    expression.setTimeZone(TimeZone.getTimeZone(zone));
    return after -> {
      Date next = expression.getNextValidTimeAfter(Date.from(after));
      return next == null ? null : next.toInstant();
    };
  }

  static Peers cronUtils(String cron, CronType type, ZoneId zone) {
    ExecutionTime times = ExecutionTime
        .forCron(new CronParser(CronDefinitionBuilder.instanceDefinitionFor(type)).parse(cron));
    return after -> {
      var next = times.nextExecution(after.atZone(zone));
      return next.isEmpty() ? null : next.get().toInstant();
    };
  }
}
