package io.foliot.api;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The values of the fields of one object. A value that equals the default of its field is not distinguished from an
 * absent one. Immutable.
 */
public final class Values {
  private final Fields fields;
  /** The values that are not the defaults, at the positions of their fields. */
  private final @Nullable Object[] values;

  private Values(Fields fields, @Nullable Object[] values) {
    this.fields = fields;
    this.values = values;
  }

  /** Returns an object in which each field has its default. */
  public static Values of(Fields fields) {
    return new Values(fields, new Object[fields.all().size()]);
  }

  /** Returns the table. */
  public Fields fields() {
    return fields;
  }

  /** Returns the value of a field, or its default, which may be null. */
  @SuppressWarnings("unchecked") // with() has put a value of this type there
  public <T> @Nullable T get(Field<T> field) {
    Object value = values[index(field)];
    return value == null ? field.standard() : (T) value;
  }

  /** Returns the value of a field that has a default, or is required and set. */
  public <T> T require(Field<T> field) {
    return Objects.requireNonNull(get(field), field.name());
  }

  /** Returns whether the value of a field differs from its default. */
  public boolean isSet(Field<?> field) {
    return values[index(field)] != null;
  }

  /** Returns these values with another one; null is the default. */
  public <T> Values with(Field<T> field, @Nullable T value) {
    int index = index(field);
    Object kept = field.isStandard(value) ? null : value;
    if (kept == values[index]) {
      return this;
    }
    @Nullable
    Object[] changed = values.clone();
    changed[index] = kept;
    return new Values(fields, changed);
  }

  /** Returns the text of the value of a field. */
  public <T> String text(Field<T> field) {
    return field.type().text(require(field));
  }

  /**
   * Returns these values with one that is given as a text, as {@link #text} returns it.
   *
   * @throws InvalidSettingException if the text is no value of the field
   */
  public <T> Values withText(Field<T> field, String text) {
    return with(field, field.type().parse(field.name(), text));
  }

  /**
   * Returns these values with each one in its bounds.
   *
   * @param prefix the text before the names of the fields in a message
   * @throws InvalidSettingException if a value is out of its bounds
   */
  public Values checked(String prefix) {
    Values checked = this;
    for (Field<?> field : fields.all()) {
      checked = checked.checked(prefix, field);
    }
    return checked;
  }

  private <T> Values checked(String prefix, Field<T> field) {
    T value = get(field);
    return value == null || !isSet(field) ? this : with(field, field.type().checked(prefix + field.name(), value));
  }

  /**
   * Returns these values without those that belonged to a value that was changed: if a change gives the owner of a
   * field another value and does not name the field, the field gets its default. So a new cron expression does not keep
   * the dialect of the one that it replaces.
   *
   * @param before the values before the change
   * @param named the fields that the change sets or resets
   */
  public Values merged(Values before, List<Field<?>> named) {
    Values merged = this;
    for (Field<?> field : fields.all()) {
      Field<?> owner = field.owner();
      if (owner != null && !named.contains(field) && !Objects.equals(get(owner), before.get(owner))) {
        merged = merged.with(field, null);
      }
    }
    return merged;
  }

  private int index(Field<?> field) {
    int index = field.position();
    if (index < 0 || index >= values.length || fields.all().get(index) != field) {
      throw new IllegalArgumentException("no field of " + fields.object() + ": field=" + field);
    }
    return index;
  }

  /** Returns the fields whose values differ from those of another object of the same table. */
  public List<Field<?>> difference(Values other) {
    List<Field<?>> different = new ArrayList<>();
    for (Field<?> field : fields.all()) {
      if (!Objects.equals(get(field), other.get(field))) {
        different.add(field);
      }
    }
    return different;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Values that && fields == that.fields && Arrays.equals(values, that.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  /** Returns the values that differ from the defaults, by name. Values that may be secrets are not shown. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(fields.object()).append('[');
    for (Field<?> field : fields.all()) {
      if (isSet(field)) {
        text.append(text.charAt(text.length() - 1) == '[' ? "" : ", ").append(field.name()).append('=')
            .append(field.isSecret() ? "***" : get(field));
      }
    }
    return text.append(']').toString();
  }
}
