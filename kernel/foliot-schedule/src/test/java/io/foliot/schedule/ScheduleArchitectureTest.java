package io.foliot.schedule;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Tests that schedules depend only on JSpecify and a few packages of the JDK, and that they read no clock. */
final class ScheduleArchitectureTest {
  private static final JavaClasses MAIN = new ClassFileImporter()
      .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.foliot.schedule");
  private static final ArchRule NO_CLOCK = noClasses().should()
      .callMethodWhere(target(owner(nameMatching("java\\.time\\..*|java\\.lang\\.System")))
          .and(target(nameMatching("now|system.*|nanoTime|currentTimeMillis"))))
      .because("a scheduled time is a function of its arguments");

  @Test
  void schedulesDependOnTheJdkAndJSpecifyAlone() {
    classes().should().onlyDependOnClassesThat(resideInAnyPackage("io.foliot.schedule", "org.jspecify..",
        "java.lang..", "java.util..", "java.time..", "java.nio.charset")).check(MAIN);
  }

  @Test
  void schedulesReadNoClock() {
    NO_CLOCK.check(MAIN);
    JavaClasses offender = new ClassFileImporter().importClasses(Offender.class);
    assertThatThrownBy(() -> NO_CLOCK.check(offender)).isInstanceOf(AssertionError.class);
  }

  /** Breaks {@link #NO_CLOCK} on purpose. */
  static final class Offender {
    static Instant now() {
      return Instant.now();
    }
  }
}
