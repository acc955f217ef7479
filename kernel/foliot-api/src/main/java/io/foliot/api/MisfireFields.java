package io.foliot.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The fields of a rule for misfires. */
public final class MisfireFields {
  /** The choice among late times. */
  public static final Field<Misfire.Policy> POLICY = Field.of("policy", FieldType.Choice.of(Misfire.Policy.class),
      Misfire.Policy.ONCE, "rule for scheduled times that are found late").option("misfire");
  /** The largest lateness of a time that may still run. */
  public static final Field<Duration> WINDOW = Field.optional("window", Misfire.LATENESS,
      "how late the run of a scheduled time may begin");
  /** The maximum number of times that run. */
  public static final Field<Integer> MAX = Field.optional("max", Misfire.RUNS,
      "with the policy all: how many late times run at most").option("misfire-max").of(POLICY);

  /** The table. */
  public static final Fields TABLE = Fields.of("misfire", POLICY, WINDOW, MAX);

  private MisfireFields() {}

  static Misfire misfire(Values values) {
    Misfire.Policy policy = values.require(POLICY);
    Integer max = values.get(MAX);
    if (max != null && policy != Misfire.Policy.ALL) {
      throw new InvalidSettingException("misfire.max", "no value, because misfire.policy is "
          + FieldType.word(policy) + " (only the policy all has a maximum)", Integer.toString(max));
    }
    @Nullable
    Duration window = values.get(WINDOW);
    return switch (policy) {
      case ONCE -> Misfire.once(window == null ? Misfire.DEFAULT.window() : window);
      case ALL -> Misfire.all(max == null ? Misfire.MAX_RUNS : max, window == null ? Misfire.DEFAULT.window() : window);
      case SKIP -> Misfire.skip(window == null ? Misfire.WINDOW_OF_SKIP : window);
    };
  }

  static Values values(Misfire misfire) {
    return Values.of(TABLE).with(POLICY, misfire.policy()).with(WINDOW, misfire.window())
        .with(MAX, misfire.policy() == Misfire.Policy.ALL ? misfire.max() : null);
  }
}
