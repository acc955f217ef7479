package io.foliot.api;

import java.util.Collection;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A field of an object of the API: one line of the object's table, {@link Fields}. The line is the only place that
 * states the name, the type, the bounds, the default and the meaning. The readers and writers of JSON, the options of
 * the command line, the schemas and the stored form follow from it.
 *
 * @param <T> the type of the values
 */
public final class Field<T> {
  private final String name;
  private final FieldType<T> type;
  private final @Nullable T standard;
  private final String help;
  private final @Nullable String option;
  private final @Nullable Field<?> owner;
  private final boolean isRequired;
  private final boolean isQuiet;
  private final boolean isSecret;
  /** The position in the table, which is set once, when the table is made. */
  private int position = -1;

  private Field(String name, FieldType<T> type, @Nullable T standard, String help, @Nullable String option,
      @Nullable Field<?> owner, boolean isRequired, boolean isQuiet, boolean isSecret) {
    this.name = name;
    this.type = type;
    this.standard = standard;
    this.help = help;
    this.option = option;
    this.owner = owner;
    this.isRequired = isRequired;
    this.isQuiet = isQuiet;
    this.isSecret = isSecret;
  }

  /**
   * Returns a field that has a default.
   *
   * @param name the name in JSON
   * @param help the meaning, as the help of an option says it
   */
  static <T> Field<T> of(String name, FieldType<T> type, T standard, String help) {
    return new Field<>(name, type, standard, help, kebab(name), null, false, false, false);
  }

  /** Returns a field that may be absent. */
  static <T> Field<T> optional(String name, FieldType<T> type, String help) {
    return new Field<>(name, type, null, help, kebab(name), null, false, false, false);
  }

  /** Returns a field that must be set. */
  static <T> Field<T> required(String name, FieldType<T> type, String help) {
    return new Field<>(name, type, null, help, kebab(name), null, true, false, false);
  }

  private static String kebab(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  /** Returns this field with another name on the command line; null for none. */
  Field<T> option(@Nullable String newOption) {
    return new Field<>(name, type, standard, help, newOption, owner, isRequired, isQuiet, isSecret);
  }

  /** Returns this field as one that has a meaning only with a value of another one. See {@link Values#merged}. */
  Field<T> of(Field<?> newOwner) {
    return new Field<>(name, type, standard, help, option, newOwner, isRequired, isQuiet, isSecret);
  }

  /** Returns this field as one that answers show only if it differs from its default. */
  Field<T> quiet() {
    return new Field<>(name, type, standard, help, option, owner, isRequired, true, isSecret);
  }

  /** Returns this field as one whose values may be secrets. */
  Field<T> secret() {
    return new Field<>(name, type, standard, help, option, owner, isRequired, isQuiet, true);
  }

  /** Returns the name in JSON. */
  public String name() {
    return name;
  }

  /** Returns the type, with its bounds. */
  public FieldType<T> type() {
    return type;
  }

  /** Returns the default, or null if the field may be absent or is required. */
  public @Nullable T standard() {
    return standard;
  }

  /** Returns the meaning. */
  public String help() {
    return help;
  }

  /** Returns the name of the option on the command line, without hyphens before it; null if there is none. */
  public @Nullable String option() {
    return option;
  }

  /** Returns the field that this one belongs to, or null. */
  public @Nullable Field<?> owner() {
    return owner;
  }

  /** Returns whether the field must be set. */
  public boolean isRequired() {
    return isRequired;
  }

  /** Returns whether answers show the field although it has its default. */
  public boolean isShown() {
    return standard != null && !isQuiet && !isEmpty(standard);
  }

  private static boolean isEmpty(Object value) {
    return (value instanceof Collection<?> items && items.isEmpty()) || value.equals(Body.EMPTY)
        || value.equals("");
  }

  /** Returns whether the values may be secrets, which logs must not show. */
  public boolean isSecret() {
    return isSecret;
  }

  void position(int newPosition) {
    position = newPosition;
  }

  int position() {
    return position;
  }

  /** Returns whether a value is the default. */
  boolean isStandard(@Nullable Object value) {
    return Objects.equals(value, standard);
  }

  @Override
  public String toString() {
    return name;
  }
}
