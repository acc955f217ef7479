package io.foliot.worker.script;

import java.nio.file.Path;

/** A process that runs a script until it is killed. */
final class KilledWorker {
  private KilledWorker() {}

  /**
   * Runs a script.
   *
   * @param args the folder and the name of the script
   */
  public static void main(String[] args) throws Exception {
    var unused = ScriptRunner.in(Path.of(args[0])).script(args[1]).handle(new FakeJob(null));
  }
}
