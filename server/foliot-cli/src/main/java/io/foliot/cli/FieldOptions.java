package io.foliot.cli;

import io.foliot.api.Field;
import io.foliot.api.FieldType;
import io.foliot.api.Fields;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The settings of an object as options of a command, made from the table of its fields. The fields of an object in a
 * field are options beside the others. The server checks the values, and reports mistakes.
 */
final class FieldOptions {
  private static final String SEPARATOR = ",";

  private final Fields fields;
  /** The options of a table, and of each table in it, by field. */
  private final Map<Field<?>, OptionSpec> options = new LinkedHashMap<>();
  private final OptionSpec unset;
  private final List<String> others;

  /** The changes of a command. */
  interface Change {
    /** Sets a field of the table, or of a table in it; null is its default. */
    <T> void set(Field<T> field, @Nullable T value);

    /** Resets a setting that is no field of the table. */
    void reset(String other);
  }

  /** @param others settings that can be reset besides the fields of the table */
  FieldOptions(Fields fields, String... others) {
    this.fields = fields;
    this.others = List.of(others);
    add(fields);
    unset = OptionSpec.builder("--unset").paramLabel("SETTING").type(List.class).auxiliaryTypes(String.class)
        .splitRegex(SEPARATOR).description("resets settings to their defaults: "
            + words())
        .build();
  }

  private void add(Fields table) {
    for (Field<?> field : table.all()) {
      if (field.type() instanceof FieldType.Nested<?> nested) {
        add(nested.fields());
      } else if (field.option() != null) {
        options.put(field, option(field, field.option()));
      }
    }
  }

  private static OptionSpec option(Field<?> field, String name) {
    OptionSpec.Builder option = OptionSpec.builder("--" + name).paramLabel(label(field.type()))
        .description(description(field));
    return isList(field.type())
        ? option.type(List.class).auxiliaryTypes(String.class).splitRegex(SEPARATOR).build()
        : option.type(String.class).build();
  }

  private static boolean isList(FieldType<?> type) {
    return type instanceof FieldType.Texts || type instanceof FieldType.Choices<?>;
  }

  private static String label(FieldType<?> type) {
    return switch (type) {
      case FieldType.Text text -> "TEXT";
      case FieldType.Whole whole -> "COUNT";
      case FieldType.Decimal decimal -> "NUMBER";
      case FieldType.Truth truth -> "BOOLEAN";
      case FieldType.Span span -> "DURATION";
      case FieldType.Time time -> "INSTANT";
      case FieldType.Choice<?> choice -> "RULE";
      case FieldType.Choices<?> choices -> "WORD";
      case FieldType.Texts texts -> "TEXT";
      case FieldType.Json json -> "JSON";
      case FieldType.Delivery delivery -> "TARGET";
      case FieldType.Nested<?> nested -> "OBJECT";
    };
  }

  /** Returns the meaning, the words of a choice, and the default. */
  private static String description(Field<?> field) {
    String words = field.type() instanceof FieldType.Choice<?> choice ? ": " + listed(choice.words()) : "";
    return field.help() + words + standard(field);
  }

  private static <T> String standard(Field<T> field) {
    T standard = field.standard();
    String text = standard == null || isList(field.type()) ? "" : field.type().text(standard);
    return text.isEmpty() ? "" : "; default: " + text;
  }

  private static String listed(List<String> words) {
    return words.size() == 1
        ? words.getFirst()
        : String.join(", ", words.subList(0, words.size() - 1)) + " or " + words.getLast();
  }

  /** Adds the options to a command. */
  CommandSpec addTo(CommandSpec command) {
    options.values().forEach(command::addOption);
    return command;
  }

  /** Adds the options to a command that changes some settings, and an option that resets settings. */
  CommandSpec addWithUnsetTo(CommandSpec command) {
    return addTo(command).addOption(unset);
  }

  /**
   * Returns the changes as a JSON merge patch (RFC 7396): a null resets a field to its default.
   *
   * @throws CommandException if a setting is both set and reset, or cannot be reset
   */
  ObjectNode patch() {
    ObjectNode patch = json();
    List<String> words = unset.getValue();
    for (String word : words == null ? List.<String>of() : words) {
      Field<?> field = resettable().get(word);
      if (field == null) {
        throw noSuchSetting(word);
      }
      if (patch.has(field.name())) {
        throw CommandException.usage(word + " is both set and unset");
      }
      patch.putNull(field.name());
    }
    return patch;
  }

  private CommandException noSuchSetting(String word) {
    return CommandException.usage("--unset: expected one of " + words() + ", but got \"" + word + "\"");
  }

  /** Returns the names of the settings that can be reset to their defaults. */
  private String words() {
    List<String> words = new ArrayList<>(others);
    words.addAll(resettable().keySet());
    return String.join(", ", words);
  }

  /** Returns the fields that can be reset to their defaults, by the names of the settings. */
  private Map<String, Field<?>> resettable() {
    Map<String, Field<?>> names = new LinkedHashMap<>();
    for (Field<?> field : fields.all()) {
      if (!field.isRequired() && field.option() != null) {
        names.put(field.option(), field);
      }
    }
    return names;
  }

  /**
   * Returns the values of the options that are given.
   *
   * @throws CommandException if a value is wrong
   */
  Values values() {
    return values(fields);
  }

  private Values values(Fields table) {
    Values values = Values.of(table);
    for (Field<?> field : table.all()) {
      values = with(values, field);
    }
    return values;
  }

  private <T> Values with(Values values, Field<T> field) {
    if (field.type() instanceof FieldType.Nested<T> nested) {
      return isGiven(nested.fields()) ? values.with(field, nested.make().apply(values(nested.fields()))) : values;
    }
    return isGiven(field) ? values.with(field, value(field)) : values;
  }

  private boolean isGiven(Fields table) {
    return table.all().stream().anyMatch(this::isGiven);
  }

  private boolean isGiven(Field<?> field) {
    OptionSpec option = options.get(field);
    return option != null && option.getValue() != null;
  }

  @SuppressWarnings("unchecked") // the list is parsed by its own type
  private <T> T value(Field<T> field) {
    String name = "--" + field.option();
    Object given = Objects.requireNonNull(Objects.requireNonNull(options.get(field)).getValue());
    try {
      FieldType<T> type = field.type();
      T value = given instanceof List<?> items
          ? (T) items.stream().map(String.class::cast).toList()
          : type.parse(name, (String) given);
      return type.checked(name, value);
    } catch (InvalidSettingException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Makes the changes of the options that are given, and of those that are reset. Returns whether there are none.
   *
   * @throws CommandException if a value is wrong, or a setting is both set and reset
   */
  boolean change(Change change) {
    boolean isEmpty = true;
    for (Field<?> field : options.keySet()) {
      if (isGiven(field)) {
        set(change, field);
        isEmpty = false;
      }
    }
    List<String> words = unset.getValue();
    for (String word : words == null ? List.<String>of() : words) {
      isEmpty = false;
      Field<?> field = resettable().get(word);
      if (others.contains(word)) {
        change.reset(word);
      } else if (field == null) {
        throw noSuchSetting(word);
      } else if (isGiven(field) || (field.type() instanceof FieldType.Nested<?> nested && isGiven(nested.fields()))) {
        throw CommandException.usage(word + " is both set and unset");
      } else {
        change.set(field, null);
      }
    }
    return isEmpty;
  }

  private <T> void set(Change change, Field<T> field) {
    change.set(field, value(field));
  }

  /** Returns the object as the API expects it; fields that are not given are absent. */
  ObjectNode json() {
    return json(fields);
  }

  private ObjectNode json(Fields table) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    for (Field<?> field : table.all()) {
      if (field.type() instanceof FieldType.Nested<?> nested) {
        ObjectNode inner = json(nested.fields());
        if (!inner.isEmpty()) {
          body.set(field.name(), inner);
        }
      } else {
        OptionSpec option = options.get(field);
        Object value = option == null ? null : option.getValue();
        if (value != null) {
          put(body, field, value);
        }
      }
    }
    return body;
  }

  private static void put(ObjectNode body, Field<?> field, Object given) {
    String option = "--" + field.option();
    switch (field.type()) {
      case FieldType.Whole whole -> body.put(field.name(), parsed(option, whole, (String) given));
      case FieldType.Decimal decimal -> body.put(field.name(), parsed(option, decimal, (String) given));
      case FieldType.Truth truth -> body.put(field.name(), parsed(option, truth, (String) given));
      case FieldType.Json json -> body.set(field.name(), JsonView.node((String) given, option));
      case FieldType.Texts texts -> array(body, field, (List<?>) given);
      case FieldType.Choices<?> choices -> array(body, field, (List<?>) given);
      case FieldType.Text text -> body.put(field.name(), (String) given);
      case FieldType.Span span -> body.put(field.name(), (String) given);
      case FieldType.Time time -> body.put(field.name(), (String) given);
      case FieldType.Choice<?> choice -> body.put(field.name(), (String) given);
      case FieldType.Delivery delivery -> throw new IllegalStateException("no option: field=" + field);
      case FieldType.Nested<?> nested -> throw new IllegalStateException("its fields are options: field=" + field);
    }
  }

  private static void array(ObjectNode body, Field<?> field, List<?> items) {
    ArrayNode array = body.putArray(field.name());
    items.forEach(item -> array.add((String) item));
  }

  private static <T> T parsed(String option, FieldType<T> type, String text) {
    try {
      return type.parse(option, text);
    } catch (InvalidSettingException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }
}
