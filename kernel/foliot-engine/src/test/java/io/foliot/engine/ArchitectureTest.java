package io.foliot.engine;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/**
 * Tests that the engine takes time, threads and random numbers from its caller, so that a simulation can run it. Also
 * tests the dependencies between packages.
 */
final class ArchitectureTest {
  /** A call that takes time, threads or random numbers from the JDK, where no test controls them. */
  private record Ban(String type, String method, String replacement) {
    ArchRule rule() {
      return noClasses().that().doNotHaveSimpleName("SystemClock").and().doNotHaveSimpleName("ThreadEventLoop").should()
          .callCodeUnitWhere(target(owner(nameMatching(type))).and(target(nameMatching(method))))
          .because("a simulation cannot control it; use " + replacement);
    }
  }

  private static final Ban CLOCK = new Ban("java\\.lang\\.System", "nanoTime|currentTimeMillis", "TimeSource");

  private static final List<Ban> BANS = List.of(CLOCK,
      new Ban("java\\.time\\.(Instant|Clock|LocalDateTime|ZonedDateTime)", "now|system.*", "TimeSource"),
      new Ban("java\\.lang\\.Thread", "sleep|<init>|start|startVirtualThread|ofVirtual|ofPlatform", "EventLoop"),
      new Ban("java\\.util\\.concurrent\\.locks\\.LockSupport", "park.*", "EventLoop"),
      new Ban("java\\.util\\.concurrent\\.Executors", ".*", "an executor given by the caller"),
      new Ban("java\\.util\\.concurrent\\.ForkJoinPool", "commonPool", "an executor given by the caller"),
      new Ban("java\\.util\\.concurrent\\.CompletableFuture",
          "orTimeout|completeOnTimeout|supplyAsync|runAsync|delayedExecutor", "EventLoop"),
      new Ban("java\\.util\\.UUID", "randomUUID", "TaskId.of"),
      new Ban("java\\.lang\\.Math", "random", "Environment.random"),
      new Ban("java\\.util\\.concurrent\\.ThreadLocalRandom", "current", "Environment.random"));

  /** The main classes of the core and the engine, without the migration: no simulation runs the migration. */
  private static final JavaClasses MAIN = new ClassFileImporter()
      .withImportOption(new ImportOption.DoNotIncludeTests())
      .withImportOption(location -> !location.contains("/engine/migration/"))
      .importPackages("io.foliot.api", "io.foliot.core", "io.foliot.engine");

  @Test
  void timeThreadsAndRandomNumbersComeFromOutside() {
    BANS.forEach(ban -> ban.rule().check(MAIN));
  }

  @Test
  void aBannedCallIsFound() {
    JavaClasses offender = new ClassFileImporter().importClasses(Offender.class);
    assertThatThrownBy(() -> CLOCK.rule().check(offender)).isInstanceOf(AssertionError.class)
        .hasMessageContaining("use TimeSource");
  }

  /** A class that reads documents. */
  private static final DescribedPredicate<JavaClass> READS_DOCUMENTS = DescribedPredicate.describe(
      "read documents", type -> type.getAccessesFromSelf().stream().anyMatch(access -> access.getTargetOwner()
          .isEquivalentTo(TaskStore.class) && access.getName().matches("documents?")));

  private static final ArchRule DOCUMENTS_ARE_JUDGED_BY_A_CLOCK_THAT_IS_READ_WITH_THEM = noClasses()
      .that(READS_DOCUMENTS).should().dependOnClassesThat(equivalentTo(StoreClock.class)).orShould()
      .callCodeUnitWhere(target(owner(nameMatching(".*\\.(EngineLoop|LoopGroup)")))
          .and(target(nameMatching("storeMicros|storeMillis"))))
      .because("the time of another node is judged by a reading of the store's clock that is made in the same call;"
          + " the monotonic clock, which StoreClock continues, stops while the machine is suspended;"
          + " use TaskStore.timeMicros");

  @Test
  void documentsAreJudgedByAClockThatIsReadWithThem() {
    DOCUMENTS_ARE_JUDGED_BY_A_CLOCK_THAT_IS_READ_WITH_THEM.check(MAIN);
    assertThat(MAIN.stream().filter(READS_DOCUMENTS).map(JavaClass::getSimpleName))
        .contains("FleetKeeper", "ClusterPermits", "QueueWatch", "QueueDeletions", "Engine");
  }

  @Test
  void aDocumentJudgedByAnOlderReadingOfTheClockIsFound() {
    JavaClasses offender = new ClassFileImporter().importClasses(JudgesByAnOlderReading.class, TaskStore.class,
        StoreClock.class);
    assertThatThrownBy(() -> DOCUMENTS_ARE_JUDGED_BY_A_CLOCK_THAT_IS_READ_WITH_THEM.check(offender))
        .isInstanceOf(AssertionError.class).hasMessageContaining("JudgesByAnOlderReading");
  }

  @Test
  void theEngineDoesNotReadTheHostsName() {
    noClasses().that().resideInAPackage("io.foliot.engine..").should().dependOnClassesThat()
        .haveSimpleName("NodeName").check(MAIN);
  }

  @Test
  void theStorePackageUsesNoDeliveriesAndNoCoordinators() {
    noClasses().that().resideInAPackage("io.foliot.core.store").should().dependOnClassesThat()
        .resideInAnyPackage("io.foliot.core.delivery", "io.foliot.core.coordination").check(MAIN);
  }

  /** Excludes {@code NodeName}, which reads the host's name for code that assembles an engine. */
  @Test
  void coreAndEngineUseNoFrameworkNoHttpAndNoStore() {
    classes().that().doNotHaveSimpleName("NodeName").should()
        .onlyDependOnClassesThat(
            resideInAnyPackage("io.foliot.api", "io.foliot.schedule", "io.foliot.core..", "io.foliot.engine..",
                "io.foliot.wheel", "org.jctools..", "org.jspecify..", "java.lang..", "java.util..", "java.time..",
                "java.io", "java.math",
                "java.nio.charset").or(equivalentTo(ByteOrder.class)).or(equivalentTo(Path.class))
                .or(equivalentTo(URI.class)))
        .check(MAIN);
  }

  /** A class that compares a document with a reading of the clock that was made before. */
  static final class JudgesByAnOlderReading {
    static CompletionStage<Boolean> isOver(TaskStore store, StoreClock clock, long nowNanos) {
      return store.documents(DocumentKind.FLEET).thenApply(found -> clock.micros(nowNanos) > found.size());
    }
  }

  /** A class that breaks the ban of {@link #CLOCK} on purpose. */
  static final class Offender {
    static long now() {
      return System.nanoTime();
    }
  }
}
