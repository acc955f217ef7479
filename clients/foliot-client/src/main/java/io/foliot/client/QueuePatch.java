package io.foliot.client;

import io.foliot.api.Field;
import io.foliot.api.FieldType;
import io.foliot.api.QueueFields;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A change of some settings of a queue. Settings that the change does not name keep their values, secrets included.
 * Settings that the change sets to null get their defaults.
 */
public final class QueuePatch {
  private static final String DELIVERY = QueueFields.DELIVERY.name();

  /** The values by field. The fields of an object in a field have a map of their own. */
  private final Map<Field<?>, @Nullable Object> values;
  private final Map<String, @Nullable String> delivery;

  private QueuePatch(Builder builder) {
    values = new LinkedHashMap<>(builder.values);
    delivery = new LinkedHashMap<>(builder.delivery);
  }

  /** Returns a builder of a change, without any settings yet. */
  public static Builder builder() {
    return new Builder();
  }

  void write(JsonGenerator json) {
    if (!delivery.isEmpty()) {
      json.writeObjectPropertyStart(DELIVERY);
      delivery.forEach((name, value) -> writeText(json, name, value));
      json.writeEndObject();
    }
    QueueFields.TABLE.all().forEach(field -> write(json, field));
  }

  private static void writeText(JsonGenerator json, String name, @Nullable String value) {
    if (value == null) {
      json.writeNullProperty(name);
    } else {
      json.writeStringProperty(name, value);
    }
  }

  @SuppressWarnings("unchecked") // set() has put a value of this type there
  private <T> void write(JsonGenerator json, Field<T> field) {
    if (values.containsKey(field)) {
      Json.writeField(json, field, (T) values.get(field), true);
    } else if (field.type() instanceof FieldType.Nested<T> nested
        && nested.fields().all().stream().anyMatch(values::containsKey)) {
      json.writeObjectPropertyStart(field.name());
      nested.fields().all().forEach(part -> write(json, part));
      json.writeEndObject();
    }
  }

  /** Returns a text with the names of the settings, but without their values, which may contain a secret. */
  @Override
  public String toString() {
    return "QueuePatch" + values.keySet() + (delivery.isEmpty() ? "" : " " + DELIVERY + delivery.keySet());
  }

  /** Builds a {@link QueuePatch}. Not safe for use by several threads. */
  public static final class Builder {
    private final Map<Field<?>, @Nullable Object> values = new LinkedHashMap<>();
    private final Map<String, @Nullable String> delivery = new LinkedHashMap<>();

    private Builder() {}

    /**
     * Sets a setting, or a part of one: a field of {@link QueueFields}, {@link io.foliot.api.RetryFields} or
     * {@link io.foliot.api.RetentionFields}. Null is the default. If a setting is set, its parts are not sent.
     *
     * @throws IllegalArgumentException if the field is no setting of a queue, or is the delivery. Use {@link #delivery}
     *     for the delivery
     */
    public <T> Builder set(Field<T> field, @Nullable T value) {
      if (field == QueueFields.DELIVERY || !isOfQueue(field)) {
        throw new IllegalArgumentException(
            "expected a setting of a queue that delivery() does not set: field=" + field);
      }
      values.put(field, value);
      return this;
    }

    private static boolean isOfQueue(Field<?> field) {
      return QueueFields.TABLE.all().stream().anyMatch(each -> each == field
          || (each.type() instanceof FieldType.Nested<?> nested && nested.fields().all().contains(field)));
    }

    /** Sets a setting of the delivery, such as {@code url}; null removes the setting. */
    public Builder delivery(String setting, @Nullable String value) {
      delivery.put(Names.requireName("the name of a setting", setting), value);
      return this;
    }

    /** Sets how long an attempt may take; null for the default. */
    public Builder timeout(@Nullable Duration value) {
      return delivery("timeout", value == null ? null : value.toString());
    }

    /** Returns the change. */
    public QueuePatch build() {
      return new QueuePatch(this);
    }
  }
}
