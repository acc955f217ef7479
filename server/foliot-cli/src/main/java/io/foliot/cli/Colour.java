package io.foliot.cli;

/** The colours of a terminal that commands use. */
enum Colour {
  /** Headings. */
  BOLD("\u001b[1m"),
  /** Less important text. */
  GREY("\u001b[90m"),
  /** A good result. */
  GREEN("\u001b[32m"),
  /** A result to check. */
  YELLOW("\u001b[33m"),
  /** A bad result. */
  RED("\u001b[31m"),
  /** A part of a line that the reader should notice. */
  CYAN("\u001b[36m");

  /** The sequence that ends a colour. */
  static final String END = "\u001b[0m";

  private final String code;

  Colour(String code) {
    this.code = code;
  }

  String code() {
    return code;
  }
}
