package io.foliot.cli;

import io.foliot.api.InstantText;
import java.time.Instant;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads instants on the command line in the format of the API. */
final class InstantConverter implements ITypeConverter<Instant> {
  @Override
  public Instant convert(String text) {
    try {
      return InstantText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }
}
