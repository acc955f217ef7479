package io.foliot.wheel;

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
import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks that tests can replace time, waiting and randomness, and that the module depends on few packages. */
final class ArchitectureTest {
  /** A call that a test cannot control, and its replacement. */
  private record Ban(String type, String method, String replacement) {
    ArchRule rule() {
      return noClasses().that().doNotHaveSimpleName("SystemTimerClock").should()
          .callMethodWhere(target(owner(nameMatching(type))).and(target(nameMatching(method))))
          .because("a test could not control this call; use " + replacement);
    }
  }

  private static final Ban CLOCK = new Ban("java\\.lang\\.System", "nanoTime|currentTimeMillis", "TimerClock.nanoTime");

  private static final List<Ban> BANS = List.of(CLOCK,
      new Ban("java\\.time\\.(Instant|Clock|LocalDateTime|ZonedDateTime)", "now|system.*", "TimerClock.nanoTime"),
      new Ban("java\\.lang\\.Thread", "sleep", "TimerClock.park"),
      new Ban("java\\.util\\.concurrent\\.Executors", ".*", "an executor given by the caller"),
      new Ban("java\\.util\\.concurrent\\.ForkJoinPool", "commonPool", "an executor given by the caller"),
      new Ban("java\\.util\\.UUID", "randomUUID", "a random source given by the caller"),
      new Ban("java\\.lang\\.Math", "random", "a random source given by the caller"));

  private static final JavaClasses MAIN = new ClassFileImporter()
      .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.foliot.wheel");

  @Test
  void timeWaitingAndRandomnessComeFromOutside() {
    BANS.forEach(ban -> ban.rule().check(MAIN));
  }

  @Test
  void aBannedCallIsFound() {
    JavaClasses offender = new ClassFileImporter().importClasses(Offender.class);
    assertThatThrownBy(() -> CLOCK.rule().check(offender)).isInstanceOf(AssertionError.class)
        .hasMessageContaining("use TimerClock.nanoTime");
  }

  /** A class that breaks {@link #CLOCK} on purpose. */
  static final class Offender {
    static long now() {
      return System.nanoTime();
    }
  }

  @Test
  void theWheelsArePassive() {
    classes().that().haveNameMatching(".*\\.(TimerQueue|TimerWheel|ObjectTimerWheel|SlotMap|NodeWheel)(\\$.*)?")
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage("java.lang..", "java.util", "java.util.function", "org.jspecify..", "io.foliot.wheel"))
        .check(MAIN);
  }

  @Test
  void theModuleDependsOnNoOtherModule() {
    classes().should().onlyDependOnClassesThat(
        resideInAnyPackage("java..", "org.jspecify..", "org.jctools..", "io.foliot.wheel")).check(MAIN);
  }
}
