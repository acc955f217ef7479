package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * Removes the glue characters from help texts when it writes them. They keep an address on one line: picocli may break
 * a line after the colon of {@code http:}, but not before a glue character.
 */
final class HelpWriter extends FilterWriter {
  private static final char GLUE = '\uFEFF';
  /** Each colon of {@code http://} and of {@code jdbc:mariadb://}. */
  private static final Pattern SCHEME_END = Pattern.compile(":(?=(\\w+:)?//)");

  private HelpWriter(OutputStream out) {
    super(new OutputStreamWriter(out, UTF_8));
  }

  /** Returns the text with a glue character after each colon of a scheme such as {@code jdbc:mariadb://}. */
  static String glued(String text) {
    return SCHEME_END.matcher(text).replaceAll(":" + GLUE);
  }

  static String[] glued(String... texts) {
    return Arrays.stream(texts).map(HelpWriter::glued).toArray(String[]::new);
  }

  static PrintWriter to(OutputStream out) {
    return new PrintWriter(new HelpWriter(out), true);
  }

  @Override
  public void write(int c) throws IOException {
    if (c != GLUE) {
      super.write(c);
    }
  }

  @Override
  public void write(char[] text, int from, int length) throws IOException {
    for (int i = from; i < from + length; i++) {
      write(text[i]);
    }
  }

  @Override
  public void write(String text, int from, int length) throws IOException {
    for (int i = from; i < from + length; i++) {
      write(text.charAt(i));
    }
  }
}
