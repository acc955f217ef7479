package io.foliot.client;

import static java.util.Objects.requireNonNullElse;

import io.foliot.api.DurationText;
import io.foliot.api.Job;
import io.foliot.api.Overlap;
import io.foliot.api.Scope;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the methods of an object that are annotated with {@link FoliotJob}. */
final class JobMethods {
  /**
   * An annotated method.
   *
   * @param declaration the job that the annotation defines; null if the annotation has no schedule
   * @param handler the handler that calls the method
   */
  record Found(FoliotJob annotation, Job.@Nullable Builder declaration, JobHandler handler) {}

  private JobMethods() {}

  /**
   * Returns the annotated methods of an object: first those of its class, then those of each superclass.
   *
   * @throws IllegalArgumentException if no method is annotated, or a method has a signature or settings that are not
   *     allowed
   */
  static List<Found> of(Object bean) {
    List<Found> found = new ArrayList<>();
    for (Class<?> type = bean.getClass(); type != null; type = type.getSuperclass()) {
      for (Method method : type.getDeclaredMethods()) {
        FoliotJob annotation = method.getAnnotation(FoliotJob.class);
        if (annotation != null && !method.isBridge()) {
          found.add(new Found(annotation, declaration(method, annotation), handler(bean, method)));
        }
      }
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException("handlers: expected an object with methods that are annotated with @FoliotJob,"
          + " but got none: class=" + bean.getClass().getName());
    }
    return found;
  }

  private static JobHandler handler(Object bean, Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    boolean takesJob = parameters.length == 1 && parameters[0] == JobContext.class;
    Class<?> returned = method.getReturnType();
    boolean returnsResult = returned == void.class || returned == String.class || returned == JobResult.class;
    if ((parameters.length > 0 && !takesJob) || !returnsResult || Modifier.isStatic(method.getModifiers())) {
      throw new IllegalArgumentException("a method with @FoliotJob must not be static, must have no parameter"
          + " or one JobContext, and must return nothing, a String or a JobResult: method=" + method);
    }
    if (!method.trySetAccessible()) {
      throw new IllegalArgumentException("a method with @FoliotJob must be accessible: make it and its class public,"
          + " or open its package to io.foliot.client: method=" + method);
    }
    return job -> switch (call(bean, method, takesJob ? new Object[]{job} : new Object[0])) {
      case null -> returned == JobResult.class ? JobResult.failed("the handler returned no result") : JobResult.done();
      case JobResult result -> result;
      case Object text -> JobResult.done(text.toString());
    };
  }

  private static @Nullable Object call(Object bean, Method method, Object[] arguments) throws Exception {
    try {
      return method.invoke(bean, arguments);
    } catch (InvocationTargetException e) {
      switch (requireNonNullElse(e.getCause(), e)) {
        case Exception failure -> throw failure;
        case Error failure -> throw failure;
        case Throwable failure -> throw new IllegalStateException(failure);
      }
    }
  }

  private static Job.@Nullable Builder declaration(Method method, FoliotJob annotation) {
    long schedules = List.of(annotation.cron(), annotation.every(), annotation.after()).stream()
        .filter(text -> !text.isEmpty()).count();
    if (schedules == 0) {
      boolean isPlain = Stream.of(annotation.timeZone(), annotation.timeout())
          .allMatch(String::isEmpty)
          && annotation.overlap() == Overlap.SKIP && annotation.scope() == Scope.ONE && annotation.zones().length == 0
          && annotation.shards() == 1
          && annotation.shardParameters().length == 0 && annotation.runListeners().length == 0;
      if (!isPlain) {
        throw new IllegalArgumentException("@FoliotJob without cron, every or after declares no job, so it must not"
            + " have settings of a job: method=" + method);
      }
      return null;
    }
    if (schedules > 1) {
      throw new IllegalArgumentException("@FoliotJob must have only one of cron, every and after: method=" + method);
    }
    Job.Builder job = Job.named(annotation.name());
    ifSet(annotation.cron(), job::cron);
    ifSet(annotation.every(), text -> job.every(duration(method, "every", text)));
    ifSet(annotation.after(), text -> job.after(duration(method, "after", text)));
    ifSet(annotation.timeZone(), job::timeZone);
    job.overlap(annotation.overlap());
    ifSet(annotation.timeout(), text -> job.timeout(duration(method, "timeout", text)));
    if (annotation.shards() != 1 || annotation.shardParameters().length > 0) {
      job.shards(annotation.shards(), annotation.shardParameters());
    }
    if (annotation.scope() != Scope.ONE) {
      job.scope(annotation.scope());
    }
    return job.zones(annotation.zones()).runListeners(annotation.runListeners());
  }

  private static void ifSet(String text, Consumer<String> set) {
    if (!text.isEmpty()) {
      set.accept(text);
    }
  }

  private static Duration duration(Method method, String setting, String text) {
    try {
      return DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          setting + ": expected a duration such as \"30m\", but got \"" + text + "\": method=" + method, e);
    }
  }
}
