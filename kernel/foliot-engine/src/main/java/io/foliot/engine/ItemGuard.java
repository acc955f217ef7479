package io.foliot.engine;

/**
 * Runs one item of a turn so that its failure stops neither the other items nor the loop. An error of the virtual
 * machine, such as out of memory, is rethrown: no item caused it, and anything that the loop does next may be wrong. A
 * stack overflow is a failure of the item.
 */
final class ItemGuard {
  private static final System.Logger LOG = System.getLogger(ItemGuard.class.getName());

  private ItemGuard() {}

  static void run(Runnable item) {
    try {
      item.run();
    } catch (Throwable e) {
      continueAfter(e, "an item failed; the loop continues without it");
    }
  }

  /** Logs a failure of an item or a turn. Rethrows an error of the virtual machine other than a stack overflow. */
  static void continueAfter(Throwable failure, String message) {
    if (failure instanceof VirtualMachineError error && !(error instanceof StackOverflowError)) {
      throw error;
    }
    LOG.log(System.Logger.Level.ERROR, message, failure);
  }
}
