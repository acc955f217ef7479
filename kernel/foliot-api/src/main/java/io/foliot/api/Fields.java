package io.foliot.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The table of the fields of an object of the API, in the order in which JSON shows them. Immutable.
 *
 * @see Field
 */
public final class Fields {
  private final String object;
  private final List<Field<?>> all;
  private final List<String> names;

  private Fields(String object, List<Field<?>> all) {
    this.object = object;
    this.all = List.copyOf(all);
    names = this.all.stream().map(Field::name).toList();
  }

  /**
   * Returns a table.
   *
   * @param object the name of the object in messages
   */
  static Fields of(String object, Field<?>... fields) {
    for (int i = 0; i < fields.length; i++) {
      fields[i].position(i);
    }
    return new Fields(object, List.of(fields));
  }

  /** Returns the name of the object in messages. */
  public String object() {
    return object;
  }

  /** Returns the fields. */
  public List<Field<?>> all() {
    return all;
  }

  /** Returns the names of the fields. */
  public List<String> names() {
    return names;
  }

  /** Returns the field with a name, or null. */
  public @Nullable Field<?> named(String name) {
    for (Field<?> field : all) {
      if (field.name().equals(name)) {
        return field;
      }
    }
    return null;
  }
}
