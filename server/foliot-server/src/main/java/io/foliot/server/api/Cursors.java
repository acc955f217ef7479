package io.foliot.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.random.RandomGenerator;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The cursors that callers get. The place where the next page begins may be the place of a record that the caller may
 * not see, so a caller gets it encrypted. A cursor is only good for the list that returned it, and no caller can make
 * one. All servers of a cluster have the same secret, because the next page may be read from another server. Safe for
 * use by any thread.
 */
public final class Cursors {
  /** Length of the secret, in bytes. */
  public static final int SECRET_BYTES = 16;

  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  /** Longest cursor that is decrypted, in characters. A longer text is none. */
  private static final int MAX_TEXT = 2_048;

  private volatile SecretKeySpec secret;
  private final RandomGenerator random;

  /**
   * Creates the cursors of a server.
   *
   * @param random must be cryptographically secure, and safe for use by any thread
   */
  public Cursors(byte[] secret, RandomGenerator random) {
    this.secret = new SecretKeySpec(secret, "AES");
    this.random = random;
  }

  /** Replaces the secret, because the store has another one. Cursors that were returned before are refused. */
  public void replace(byte[] newSecret) {
    secret = new SecretKeySpec(newSecret, "AES");
  }

  /** Returns the cursor of a place in a list; null for null, which is the end of the list. */
  @Nullable
  String seal(String list, @Nullable String place) {
    if (place == null) {
      return null;
    }
    byte[] sealed = new byte[NONCE_BYTES];
    random.nextBytes(sealed);
    try {
      byte[] content = cipher(Cipher.ENCRYPT_MODE, sealed, list).doFinal(place.getBytes(UTF_8));
      sealed = Arrays.copyOf(sealed, NONCE_BYTES + content.length);
      System.arraycopy(content, 0, sealed, NONCE_BYTES, content.length);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(sealed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + CIPHER, e);
    }
  }

  /**
   * Returns the place of a cursor; null for null, which is the beginning of the list.
   *
   * @throws Problem if no page of the list has returned the cursor
   */
  @Nullable
  String open(String list, @Nullable String cursor) {
    if (cursor == null) {
      return null;
    }
    try {
      byte[] sealed = Base64.getUrlDecoder().decode(cursor.length() > MAX_TEXT ? "" : cursor);
      if (sealed.length <= NONCE_BYTES) {
        throw QueueScan.badCursor(cursor);
      }
      return new String(cipher(Cipher.DECRYPT_MODE, sealed, list)
          .doFinal(sealed, NONCE_BYTES, sealed.length - NONCE_BYTES), UTF_8);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw QueueScan.badCursor(cursor);
    }
  }

  private Cipher cipher(int mode, byte[] nonce, String list) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(mode, secret, new GCMParameterSpec(TAG_BITS, nonce, 0, NONCE_BYTES));
    cipher.updateAAD(list.getBytes(UTF_8));
    return cipher;
  }
}
