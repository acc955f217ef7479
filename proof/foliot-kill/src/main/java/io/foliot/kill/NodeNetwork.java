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
 * A virtual network. Each node is a network namespace, which a cable (a veth pair) connects to a bridge of this
 * machine. Needs root, Linux with network namespaces, and the program named in {@link #NEEDED}.
 *
 * <p>The network can cause faults that a proxy cannot cause. When a cable is pulled, connections hang without an error.
 * When packets of one direction are lost, packets of the other direction still arrive; a wrong hardware address in the
 * sender's neighbour table causes this loss. This machine has several addresses in the network, so packets of a node to
 * one address may vanish while packets to the others arrive.
 *
 * <p>The names of the namespaces, and of the links on this machine, contain the id of this process. If a process dies,
 * the next process removes the namespaces and links of the dead one.
 */
final class NodeNetwork implements AutoCloseable {
  /** End of the message of each {@link UnavailableException}. */
  static final String NEEDED = "this test needs root, network namespaces, bridges, and the program ip: run it as root on Linux (a"
      + " privileged container will do), with iproute2 installed";

  /** Queueing discipline of {@code tc} that delays and loses packets. */
  static final String LOSSY = "netem";

  /** Queueing discipline of {@code tc} that limits the rate. */
  static final String NARROW = "tbf";

  private static final String PREFIX = "foliot";
  private static final Pattern OURS = Pattern.compile(PREFIX + "(\\d+)(n\\d+)?");
  private static final Path NAMESPACES = Path.of("/run/netns");

  /** First half of all addresses. The range is reserved for benchmarks of networks: no real machine should be in it. */
  private static final String RANGE = "198.18.";
  private static final int NETWORKS = 256;

  /** Last part of the address of node 0. */
  private static final int FIRST_NODE = 101;

  /** Last part of the hardware address of node 0. */
  private static final int FIRST_NODE_HARDWARE = 11;

  /** Name that the cable has within each node. */
  private static final String CABLE = "eth0";

  /**
   * Beginning of all hardware addresses, which are fixed. A bridge without a fixed address takes the lowest address of
   * its cables. If that address changed with a cable, peers would send to the old address for half a minute.
   */
  private static final String HARDWARE = "02:00:00:00:00:";

  /** Hardware address that no node has. */
  private static final String WRONG_HARDWARE = HARDWARE + "ff";

  /** Port at which no process listens. */
  private static final int CLOSED_PORT = 9;
  private static final int CONNECT_MILLIS = 10_000;

  /** The addresses of this machine, by purpose. Connections from this machine to a node come from {@link #CLIENTS}. */
  enum Role {
    CLIENTS(1), STORE(2), RECEIVER(3), COORDINATOR(4);

    private final int host;

    Role(int host) {
      this.host = host;
    }
  }

  /** Thrown if this machine cannot create such a network. */
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

  /** Creates a network. A process may have only one at a time. */
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
      // The node refused the connection, so it is reachable.
    }
  }

  /** Returns the range of all addresses of this network, in CIDR notation. */
  String range() {
    return network + "0/24";
  }

  /** Returns the address of this machine for a purpose. */
  String host(Role role) {
    return network + role.host;
  }

  String host(int node) {
    return network + (FIRST_NODE + node);
  }

  /** Returns the beginning of a command that runs at a node. */
  List<String> launcher(int node) {
    return List.of("ip", "netns", "exec", name(node));
  }

  private String name(int node) {
    return bridge + "n" + node;
  }

  /** Pulls the cable of a node. */
  void unplug(int node) {
    Command.run("ip", "link", "set", name(node), "down");
  }

  void plug(int node) {
    Command.run("ip", "link", "set", name(node), "up");
  }

  /** Makes packets from a node to an address of this machine vanish. Packets from that address still arrive. */
  void loseFrom(int node, Role to) {
    Command.run("ip", "-n", name(node), "neighbour", "replace", host(to), "lladdr", WRONG_HARDWARE, "dev", CABLE,
        "nud", "permanent");
  }

  /** Undoes {@link #loseFrom}. */
  void restoreFrom(int node, Role to) {
    Command.run("ip", "-n", name(node), "neighbour", "delete", host(to), "dev", CABLE);
  }

  /** Makes packets from all addresses of this machine to a node vanish. Packets from the node still arrive. */
  void loseTo(int node) {
    Command.run("ip", "neighbour", "replace", host(node), "lladdr", WRONG_HARDWARE, "dev", bridge, "nud",
        "permanent");
  }

  /** Undoes {@link #loseTo}. */
  void restoreTo(int node) {
    Command.run("ip", "neighbour", "delete", host(node), "dev", bridge);
  }

  /** Returns whether {@code tc} supports a discipline with these settings on this machine. */
  boolean can(String discipline, String... settings) {
    try {
      shape(0, discipline, settings);
      straighten(0);
      return true;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** Applies a discipline of {@code tc} to both directions of the cable of a node. */
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
   * Replaces a node by a new one. All connections of the node are lost without notice to their peers. No process may
   * run at the node.
   */
  void replace(int node) {
    removeLink(name(node));
    removeNamespace(name(node));
    try {
      connect(node);
    } catch (IOException e) {
      throw new AssertionError("cannot create a node again: node=" + node, e);
    }
  }

  /** Removes the links and namespaces of all nodes, and the bridge. Some of these may not exist. */
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
      // There is no such link.
    }
  }

  /** Ends the processes that still run in a namespace, and removes the namespace. */
  private static void removeNamespace(String name) {
    try {
      Command.attempt("sh", "-c", "pids=$(ip netns pids " + name + ") && [ -n \"$pids\" ] && kill -KILL $pids");
    } catch (IOException e) {
      // There is no such namespace, or nothing runs there.
    }
    try {
      Command.attempt("ip", "netns", "delete", name);
    } catch (IOException e) {
      // There is no such namespace.
    }
  }

  @Override
  public void close() {
    remove();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
