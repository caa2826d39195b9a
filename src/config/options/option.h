#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mpitron::config {

/// How many words an option takes, and what a bare flag stores.
enum class Kind : std::uint8_t {
  flag,      // given: true
  flag_off,  // given: false (the names begin with --no- or --disable-)
  value,     // one word
  words,     // one or more words
  any_words  // none or more words
};

/// The type of a stored value; words are checked against it.
enum class Type : std::uint8_t {
  boolean,
  integer,
  real,
  text,
  frequency  // an integer or a list expression, see list_expression.h
};

/// The program's answer to an option of the reference. Each option of its parser has a row, so
/// that none is unknown: one that cannot be obeyed is refused by name or told about.
enum class Status : std::uint8_t {
  works,       // does what its help says
  neutral,     // accepted: has no influence on results here
  later,       // known, not there yet: only its default value (or `only`) is accepted
  unneeded,    // accepted with a notice: belongs to a service or a language that is not here
  refused,     // cannot have a meaning here
  deprecated,  // accepted with a notice that names the replacement
  removed      // an error that names the replacement
};

/// One row of an option table. Rows are made by the functions below and refined by the members that
/// return a row: `text("rope-type", none, works, "...").choose("rope yarn")`.
struct Option {
  std::string_view name;  // without the dashes
  Kind kind = Kind::flag;
  Type type = Type::boolean;
  std::optional<std::string_view>
      default_value;  // as a user would write it; list items separated by blanks
  Status status = Status::later;
  std::string_view help;
  std::string_view dest;     // name of the stored value; empty: the option's name with _ for -
  std::string_view choices;  // separated by blanks; empty: anything of the type
  std::string_view alias;    // further spellings, separated by blanks
  std::string_view
      replacement;        // flags to use instead, for deprecated, removed and refused options
  std::string_view only;  // the choices that work today; empty: all of them

  /// Refinements: each returns the row with one member changed, named by what it means for the
  /// user.
  constexpr Option stored_as(std::string_view words) const { return with(&Option::dest, words); }
  constexpr Option choose(std::string_view words) const { return with(&Option::choices, words); }
  constexpr Option also(std::string_view words) const { return with(&Option::alias, words); }
  constexpr Option use(std::string_view words) const { return with(&Option::replacement, words); }
  constexpr Option works_with(std::string_view words) const { return with(&Option::only, words); }
  constexpr Option list() const { return with(&Option::kind, Kind::words); }
  constexpr Option any_list() const { return with(&Option::kind, Kind::any_words); }
  /// Makes the option have no value at all unless it is given, so that "not given" can be told from
  /// its default.
  constexpr Option unset() const {
    return with(&Option::default_value, std::optional<std::string_view>{});
  }

 private:
  template <class T>
  constexpr Option with(T Option::*member, T value) const {
    Option changed = *this;
    changed.*member = value;
    return changed;
  }
};

namespace rows {

using enum Status;
using Default = std::optional<std::string_view>;
inline constexpr Default none;

// Makers of rows. Texts must be literals: rows are constants that keep views of them.
constexpr Option flag(std::string_view name, Status status, std::string_view help) {
  return {name, Kind::flag, Type::boolean, "false", status, help, {}, {}, {}, {}, {}};
}
/// A flag that stores false into `dest`, which is true without it.
constexpr Option flag_off(std::string_view name, std::string_view dest, Status status,
                          std::string_view help) {
  return {name, Kind::flag_off, Type::boolean, "true", status, help, dest, {}, {}, {}, {}};
}
constexpr Option value(std::string_view name, Type type, Default start, Status status,
                       std::string_view help) {
  return {name, Kind::value, type, start, status, help, {}, {}, {}, {}, {}};
}
constexpr Option integer(std::string_view name, Default start, Status status,
                         std::string_view help) {
  return value(name, Type::integer, start, status, help);
}
constexpr Option real(std::string_view name, Default start, Status status, std::string_view help) {
  return value(name, Type::real, start, status, help);
}
constexpr Option text(std::string_view name, Default start, Status status, std::string_view help) {
  return value(name, Type::text, start, status, help);
}

}  // namespace rows
}  // namespace mpitron::config
