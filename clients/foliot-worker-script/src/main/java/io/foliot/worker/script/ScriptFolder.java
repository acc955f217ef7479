package io.foliot.worker.script;

import io.foliot.worker.script.ScriptRefusedException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The folder that the operator of a worker names, and the rules that decide which of its files are scripts.
 *
 * <p>The rules are checked before each run. A user who may write to the folder could replace a script between the check
 * and the start. But this user could also replace it with a script that passes the check. So the folder is trusted, and
 * the name of a script is not.
 */
final class ScriptFolder {
  /**
   * Pattern of the names of scripts. It excludes separators, and names that begin with a dot or a hyphen: hidden files,
   * the parent folder, and options.
   */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");

  private static final int ROOT_UID = 0;
  /** Name of the file attribute that contains the owner's user id. */
  private static final String UID = "unix:uid";

  private final Path folder;

  /**
   * Opens a folder.
   *
   * @throws IllegalArgumentException if the path is not a folder, if users other than its owner and group may write to
   *     it, or if its file system has no POSIX permissions
   */
  ScriptFolder(Path folder) {
    try {
      this.folder = folder.toRealPath();
      ensureSafe();
    } catch (IOException | UnsupportedOperationException | ScriptRefusedException e) {
      throw new IllegalArgumentException("scripts: expected a folder that only its owner and group can write to, on a"
          + " file system with POSIX permissions: folder=" + folder + ", cause=" + e, e);
    }
  }

  private void ensureSafe() throws IOException, ScriptRefusedException {
    PosixFileAttributes attributes = Files.readAttributes(folder, PosixFileAttributes.class,
        LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isDirectory()) {
      throw new ScriptRefusedException(Kind.FILE, "script: the folder of scripts is not a folder: folder=" + folder);
    }
    if (attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new ScriptRefusedException(Kind.FILE, "script: every user can write to the folder of scripts: folder="
          + folder);
    }
  }

  /**
   * Returns the file of a script.
   *
   * @throws ScriptRefusedException if the name is not valid, there is no such file, or the rules do not permit running
   *     it
   */
  Path find(String name) throws IOException, ScriptRefusedException {
    if (!NAME.matcher(name).matches()) {
      throw new ScriptRefusedException(Kind.NAME,
          "script: expected the name of a file, of letters, digits, '.', '_' and"
              + " '-', but got " + printable(name));
    }
    ensureSafe();
    Path file;
    try {
      file = folder.resolve(name).toRealPath();
    } catch (NoSuchFileException e) {
      ScriptRefusedException absent = new ScriptRefusedException(Kind.ABSENT, "script: no such file: script=" + name);
      absent.initCause(e);
      throw absent;
    }
    if (!folder.equals(file.getParent())) {
      throw new ScriptRefusedException(Kind.FILE, "script: it is a link out of the folder of scripts: script=" + name);
    }
    PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isRegularFile()) {
      throw new ScriptRefusedException(Kind.FILE, "script: it is not a regular file: script=" + name);
    }
    if (attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new ScriptRefusedException(Kind.FILE, "script: every user can write to it: script=" + name);
    }
    if (!isTrusted(Files.getAttribute(file, UID), Files.getAttribute(folder, UID))) {
      throw new ScriptRefusedException(Kind.FILE,
          "script: it belongs neither to root nor to the owner of the folder: script=" + name);
    }
    if (!Files.isExecutable(file)) {
      throw new ScriptRefusedException(Kind.FILE, "script: it is not executable: script=" + name);
    }
    return file;
  }

  /** Returns whether the owner of a file may decide what this worker runs. */
  static boolean isTrusted(Object fileUid, Object folderUid) {
    return fileUid.equals(ROOT_UID) || fileUid.equals(folderUid);
  }

  /** Returns a name from a caller as it may appear in a message: short, quoted, and in printable ASCII. */
  private static String printable(String name) {
    String cut = name.length() > 128 ? name.substring(0, 128) + "..." : name;
    StringBuilder text = new StringBuilder("\"");
    cut.chars().forEach(c -> {
      if (c >= ' ' && c < 0x7f) {
        text.append((char) c);
      } else {
        text.append(String.format(Locale.ROOT, "\\u%04x", c));
      }
    });
    return text.append('"').toString();
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
