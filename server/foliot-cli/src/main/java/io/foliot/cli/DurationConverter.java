package io.foliot.cli;

import io.foliot.api.DurationText;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads durations on the command line in the format of the API. */
final class DurationConverter implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    try {
      return DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }
}
