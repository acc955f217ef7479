package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Tests of {@link Foliot} without the optional modules on the class path. */
final class MissingModuleTest {
  /** A class loader that defines a second copy of {@link Foliot}, and finds no class of the optional modules. */
  private static final class WithoutModules extends ClassLoader {
    WithoutModules() {
      super(MissingModuleTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.foliot.store.") || name.startsWith("io.foliot.client.")) {
        throw new ClassNotFoundException(name);
      }
      if (!name.matches("io\\.foliot\\.[A-Z].*")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (file == null) {
          throw new ClassNotFoundException(name);
        }
        byte[] bytes = file.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static Object open(String method, Class<?> type, Object argument) throws ReflectiveOperationException {
    Class<?> foliot = new WithoutModules().loadClass("io.foliot.Foliot");
    return foliot.getMethod(method, type).invoke(null, argument);
  }

  private static void ensureNames(String artifact, String method, Class<?> type, Object argument) {
    assertThatThrownBy(() -> open(method, type, argument)).isInstanceOf(InvocationTargetException.class).cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("a module is missing on the class path: add the dependency io.foliot:" + artifact);
  }

  @Test
  void theExceptionNamesTheMissingModule() {
    ensureNames("foliot-store-rocksdb", "open", Path.class, Path.of("never-created"));
    ensureNames("foliot-store-jdbc", "on", DataSource.class, new org.postgresql.ds.PGSimpleDataSource());
    ensureNames("foliot-client", "connect", URI.class, URI.create("http://127.0.0.1:1"));
  }

  @Test
  void tasksInMemoryNeedNoOtherModule() throws Exception {
    Class<?> foliot = new WithoutModules().loadClass("io.foliot.Foliot");
    assertThat(foliot).isNotEqualTo(Foliot.class);
    try (AutoCloseable opened = (AutoCloseable) foliot.getMethod("inMemory").invoke(null)) {
      Object tasks = foliot.getMethod("tasks", String.class, Class.class).invoke(opened, "q", String.class);
      assertThat(tasks).isNotNull();
      assertThatThrownBy(() -> foliot.getMethod("workers").invoke(opened)).cause()
          .hasMessage("a module is missing on the class path: add the dependency io.foliot:foliot-client");
    }
  }
}
