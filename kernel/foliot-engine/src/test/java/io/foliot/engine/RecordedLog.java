package io.foliot.engine;

import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A logger that keeps its lines. A stack trace is kept as a separate line, {@code (stack)}. */
final class RecordedLog implements System.Logger {
  final List<String> lines = new ArrayList<>();

  @Override
  public String getName() {
    return "recorded";
  }

  @Override
  public boolean isLoggable(Level level) {
    return true;
  }

  @Override
  public void log(Level level, @Nullable ResourceBundle bundle, @Nullable String text, @Nullable Throwable thrown) {
    lines.add(level + " " + text);
    if (thrown != null) {
      lines.add("(stack)");
    }
  }

  @Override
  public void log(Level level, @Nullable ResourceBundle bundle, @Nullable String format,
      @Nullable Object @Nullable... values) {
    boolean isPlain = values == null || values.length == 0;
    lines.add(level + " " + (isPlain ? format : MessageFormat.format(format + "", values)));
  }
}
