package io.foliot.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import io.foliot.server.config.FoliotConfig;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** The server's log: lines of text or of JSON on the standard output. */
public final class Logging {
  private static final String PATTERN = "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %logger{0}: %msg %kvp{NONE}%n";

  private Logging() {}

  /** Configures the log. Does nothing if SLF4J uses another back end than Logback. */
  public static void apply(FoliotConfig.Log config) {
    ILoggerFactory factory = LoggerFactory.getILoggerFactory();
    if (factory instanceof LoggerContext context) {
      configure(context, config);
    }
  }

  static void configure(LoggerContext context, FoliotConfig.Log config) {
    context.reset();
    Encoder<ILoggingEvent> encoder = config.isJson() ? json(context) : text(context);
    encoder.start();
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setContext(context);
    console.setEncoder(encoder);
    console.start();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.addAppender(console);
    root.setLevel(Level.WARN);
    context.getLogger("io.foliot").setLevel(Level.toLevel(config.level(), Level.INFO));
    // The HTTP client's log is off, because the client logs even its shutdown as an error. The failures of a callback
    // are in the history of its task.
    context.getLogger("org.apache.hc").setLevel(Level.OFF);
    // ZooKeeper's client would log each attempt to connect. The coordinator logs only once that ZooKeeper does not
    // answer.
    Level clients = Level.toLevel(config.level(), Level.INFO).isGreaterOrEqual(Level.INFO) ? Level.OFF : Level.INFO;
    context.getLogger("org.apache.zookeeper").setLevel(clients);
    context.getLogger("org.apache.curator").setLevel(clients);
    context.getLogger("io.netty.channel.ChannelInitializer").setLevel(clients);
    // The pool would log a stack trace for each broken connection. The engine logs only once that the store does not
    // answer.
    context.getLogger("com.zaxxer.hikari").setLevel(clients == Level.OFF ? Level.ERROR : Level.WARN);
    // The audit log does not depend on the configured level.
    context.getLogger("foliot.audit").setLevel(Level.INFO);
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(PATTERN);
    return encoder;
  }

  private static Encoder<ILoggingEvent> json(LoggerContext context) {
    JsonLines encoder = new JsonLines();
    encoder.setContext(context);
    return encoder;
  }
}
