package io.foliot.server.command;

import io.foliot.server.text.DurationText;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations on the command line are written as in the API. */
final class DurationConverter implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    try {
      Duration duration = DurationText.parse(text);
      if (duration.isNegative()) {
        throw new TypeConversionException("a duration is not negative: found=\"" + text + "\"");
      }
      return duration;
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }
}
