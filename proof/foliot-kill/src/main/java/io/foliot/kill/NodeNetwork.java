package io.foliot.kill;

import io.foliot.backends.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A network of our own: nodes that each have a network namespace, and a cable to a bridge that this machine is at, too.
 * Needs root, a Linux with network namespaces, and the program named in {@link #NEEDED}.
 *
 * <p> Faults that a proxy cannot make: a cable is pulled, so that connections hang without an error; or packets of one
 * direction are lost while those of the other direction arrive, which is done by a wrong hardware address in the
 * sender's table of neighbours. This machine has several addresses there, so that packets of a node to one of them may
 * vanish while they reach the others.
 *
 * <p> All names begin with the id of this process. The remains of a dead process are removed by the next one.
 */
final class NodeNetwork implements AutoCloseable {
  /** The message where the means are missing. */
  static final String NEEDED = "this test needs root, network namespaces, bridges, and the program ip: run it as root on Linux (a"
      + " privileged container will do), with iproute2 installed";

  /** The names in {@code tc} of a link that delays and loses packets, and of a narrow one. */
  static final String LOSSY = "netem";
  static final String NARROW = "tbf";

  private static final String PREFIX = "foliot";
  private static final Pattern OURS = Pattern.compile(PREFIX + "(\\d+)(n\\d+)?");
  private static final Path NAMESPACES = Path.of("/run/netns");

  /** Kept for measurements of networks, so that no machine is reached by it. */
  private static final String RANGE = "198.18.";
  private static final int NETWORKS = 256;
  private static final int FIRST_NODE = 101;
  private static final int FIRST_NODE_HARDWARE = 11;
  private static final String CABLE = "eth0";

  /**
   * Hardware addresses are fixed, and the last one is unused: a bridge without one has the least of its cables', and
   * where that changes with a cable, others keep sending to the old one for half a minute.
   */
  private static final String HARDWARE = "02:00:00:00:00:";
  private static final String WRONG_HARDWARE = HARDWARE + "ff";
  private static final int CLOSED_PORT = 9;
  private static final int CONNECT_MILLIS = 10_000;

  /** The addresses of this machine. Connections that it makes by itself come from the first. */
  enum Role {
    CLIENTS(1), STORE(2), RECEIVER(3), COORDINATOR(4);

    private final int host;

    Role(int host) {
      this.host = host;
    }
  }

  /** There can be no such network here. */
  static final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1;

    UnavailableException(String message) {
      super(message);
    }
  }

  private final String bridge = PREFIX + ProcessHandle.current().pid();
  private final String network;
  private final int nodes;
  private final Thread atExit = new Thread(this::remove);

  private NodeNetwork(String network, int nodes) {
    this.network = network;
    this.nodes = nodes;
  }

  /** Makes one; this process has no other. */
  static NodeNetwork create(int nodes) throws UnavailableException {
    NodeNetwork made;
    try {
      Command.attempt("ip", "netns", "list");
      removeLeftovers();
      made = new NodeNetwork(freeNetwork(), nodes);
    } catch (IOException e) {
      throw new UnavailableException(e.getMessage() + "; " + NEEDED);
    }
    Runtime.getRuntime().addShutdownHook(made.atExit);
    try {
      made.build();
      return made;
    } catch (IOException e) {
      made.close();
      throw new UnavailableException(e.getMessage() + "; " + NEEDED);
    }
  }

  private static void removeLeftovers() throws IOException {
    List<String> names = new ArrayList<>(NetworkInterface.networkInterfaces().map(NetworkInterface::getName).toList());
    if (Files.isDirectory(NAMESPACES)) {
      try (DirectoryStream<Path> namespaces = Files.newDirectoryStream(NAMESPACES)) {
        namespaces.forEach(namespace -> names.add(namespace.getFileName().toString()));
      }
    }
    for (String name : names) {
      Matcher ours = OURS.matcher(name);
      if (ours.matches() && hasNoProcess(Long.parseLong(ours.group(1)))) {
        removeNamespace(name);
        removeLink(name);
      }
    }
  }

  private static boolean hasNoProcess(long pid) {
    return pid == ProcessHandle.current().pid() || ProcessHandle.of(pid).isEmpty();
  }

  private static String freeNetwork() throws IOException {
    List<String> taken = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
        .map(InetAddress::getHostAddress).toList();
    int first = new SplittableRandom().nextInt(NETWORKS);
    return IntStream.range(0, NETWORKS).mapToObj(i -> RANGE + (first + i) % NETWORKS + ".")
        .filter(free -> taken.stream().noneMatch(address -> address.startsWith(free))).findFirst()
        .orElseThrow(() -> new IOException("all of " + RANGE + "0.0/16 is taken"));
  }

  private void build() throws IOException {
    Command.attempt("ip", "link", "add", bridge, "address", HARDWARE + "01", "type", "bridge");
    for (Role role : Role.values()) {
      Command.attempt("ip", "address", "add", host(role) + "/24", "dev", bridge);
    }
    Command.attempt("ip", "link", "set", bridge, "up");
    for (int node = 0; node < nodes; node++) {
      connect(node);
    }
    for (int node = 0; node < nodes; node++) {
      ensureReached(node);
    }
  }

  private void connect(int node) throws IOException {
    Command.attempt("ip", "netns", "add", name(node));
    Command.attempt("ip", "link", "add", name(node), "type", "veth", "peer", "name", CABLE, "netns", name(node));
    Command.attempt("ip", "link", "set", name(node), "master", bridge, "up");
    Command.attempt("ip", "-n", name(node), "link", "set", CABLE, "address", HARDWARE + (FIRST_NODE_HARDWARE + node));
    Command.attempt("ip", "-n", name(node), "address", "add", host(node) + "/24", "dev", CABLE);
    Command.attempt("ip", "-n", name(node), "link", "set", "lo", "up");
    Command.attempt("ip", "-n", name(node), "link", "set", CABLE, "up");
    Command.attempt("ip", "netns", "exec", name(node), "true");
  }

  private void ensureReached(int node) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host(node), CLOSED_PORT), CONNECT_MILLIS);
    } catch (ConnectException e) {
      // Nothing listens there, as the node said.
    }
  }

  /** The network of all its addresses. */
  String range() {
    return network + "0/24";
  }

  /** An address of this machine. */
  String host(Role role) {
    return network + role.host;
  }

  /** The address of a node. */
  String host(int node) {
    return network + (FIRST_NODE + node);
  }

  /** Returns the begin of a command that runs at a node. */
  List<String> launcher(int node) {
    return List.of("ip", "netns", "exec", name(node));
  }

  private String name(int node) {
    return bridge + "n" + node;
  }

  /** Pulls a node's cable. */
  void unplug(int node) {
    Command.run("ip", "link", "set", name(node), "down");
  }

  void plug(int node) {
    Command.run("ip", "link", "set", name(node), "up");
  }

  /** From now on packets of a node to an address of this machine vanish, and packets from there arrive. */
  void loseFrom(int node, Role to) {
    Command.run("ip", "-n", name(node), "neighbour", "replace", host(to), "lladdr", WRONG_HARDWARE, "dev", CABLE,
        "nud", "permanent");
  }

  void findFrom(int node, Role to) {
    Command.run("ip", "-n", name(node), "neighbour", "delete", host(to), "dev", CABLE);
  }

  /** From now on packets of this machine to a node vanish, from whichever address, and packets of the node arrive. */
  void loseTo(int node) {
    Command.run("ip", "neighbour", "replace", host(node), "lladdr", WRONG_HARDWARE, "dev", bridge, "nud",
        "permanent");
  }

  void findTo(int node) {
    Command.run("ip", "neighbour", "delete", host(node), "dev", bridge);
  }

  /** Returns whether this machine can do to a link what {@code tc} has a name for. */
  boolean can(String discipline, String... settings) {
    try {
      shape(0, discipline, settings);
      straighten(0);
      return true;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** Sets both directions of a node's link to a state of {@code tc}. */
  void shape(int node, String discipline, String... settings) {
    String shape = discipline + " " + String.join(" ", settings);
    shell("tc qdisc replace dev " + name(node) + " root " + shape);
    shell("tc -n " + name(node) + " qdisc replace dev " + CABLE + " root " + shape);
  }

  /** Undoes {@link #shape}. */
  void straighten(int node) {
    shell("tc qdisc delete dev " + name(node) + " root");
    shell("tc -n " + name(node) + " qdisc delete dev " + CABLE + " root");
  }

  private static void shell(String command) {
    Command.run("sh", "-c", command);
  }

  /**
   * Replaces a node by a new one. All its connections are lost, without notice to their peers. Nothing may run there.
   */
  void replace(int node) {
    removeLink(name(node));
    removeNamespace(name(node));
    try {
      connect(node);
    } catch (IOException e) {
      throw new AssertionError("a node could be made before", e);
    }
  }

  /** Both are removed also where only one of them is left. */
  private void remove() {
    for (int node = 0; node < nodes; node++) {
      removeLink(name(node));
      removeNamespace(name(node));
    }
    removeLink(bridge);
  }

  private static void removeLink(String name) {
    try {
      Command.attempt("ip", "link", "delete", name);
    } catch (IOException e) {
      // There is none.
    }
  }

  /** Ends processes that still run there, which have no network any more. */
  private static void removeNamespace(String name) {
    try {
      Command.attempt("sh", "-c", "pids=$(ip netns pids " + name + ") && [ -n \"$pids\" ] && kill -KILL $pids");
    } catch (IOException e) {
      // There is no such namespace, or nothing runs there.
    }
    try {
      Command.attempt("ip", "netns", "delete", name);
    } catch (IOException e) {
      // There is none.
    }
  }

  @Override
  public void close() {
    remove();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
