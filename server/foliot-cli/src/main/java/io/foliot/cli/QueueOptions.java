package io.foliot.cli;

import io.foliot.api.QueueFields;
import io.foliot.api.Target;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of the delivery of a queue as options of a command. {@link QueueFields} has the other settings. */
final class QueueOptions {
  /**
   * The environment variable that holds the secret of {@code --sign}. The secret is not an argument, because all users
   * of a machine can see command lines.
   */
  static final String SECRET_VARIABLE = "FOLIOT_WEBHOOK_SECRET";
  private static final String TIMEOUT = "how long a receiver may take; default: 10s";
  /** The setting of a target that holds the secret. */
  static final String SECRET = "secret";

  @Option(names = "--timeout", paramLabel = "DURATION", converter = DurationConverter.class, description = TIMEOUT)
  @Nullable
  Duration timeout;

  @Option(names = "--sign", description = "sign callbacks with the secret in the variable " + SECRET_VARIABLE)
  boolean sign;

  /** Returns the secret of {@code --sign}; fails if the variable is not set. */
  static String secret(Shell shell) {
    String secret = shell.variable(SECRET_VARIABLE);
    if (secret.isEmpty()) {
      throw CommandException.usage("--sign reads the secret from the variable " + SECRET_VARIABLE
          + ", which is not set");
    }
    return secret;
  }

  /** Returns the target of callbacks to an address. */
  static Target callback(String to) {
    try {
      return Target.http(java.net.URI.create(to));
    } catch (IllegalArgumentException e) {
      throw CommandException
          .usage("--to: expected an address such as http://127.0.0.1:8080/orders, but got \"" + to + "\"");
    }
  }
}
