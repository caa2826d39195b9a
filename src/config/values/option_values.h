#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/values/list_expression.h"
#include "config/values/option_table.h"

namespace mpitron::config {

/// The source of a value. `detail` is shown to the user: "run.yaml:12", "= 4 * hidden_size".
struct Origin {
  enum class Source { default_value, yaml, command_line, derived };
  Source source = Source::default_value;
  std::string detail;
};

/// Returns "default", "run.yaml:12", "command line" or "derived: = 4 * hidden_size".
std::string to_text(const Origin& origin);

/// The value of every option, as words whose type has been checked, found by stored name
/// (`hidden_size`). Asking for a name that is in no table is a broken invariant.
class OptionValues {
 public:
  OptionValues();

  /// Stores words of the user; the caller has checked them (see accept_option).
  void set(std::size_t slot, std::vector<std::string> words, Origin origin);
  /// Stores a value that follows from others; `why` becomes part of its provenance.
  void derive(std::string_view dest, std::string word, std::string why);
  void derive(std::string_view dest, std::vector<std::string> words, std::string why);

  bool given(std::string_view dest) const;  // by the user, in whatever way
  bool has(std::string_view dest) const;    // some value, perhaps a default
  bool flag(std::string_view dest) const;
  Index integer(std::string_view dest) const;  // must have a value
  double real(std::string_view dest) const;    // must have a value
  std::string text(std::string_view dest) const;
  std::vector<std::string> words(std::string_view dest) const;  // empty if there is no value
  std::vector<Index> integers(std::string_view dest) const;
  std::optional<Index> maybe_integer(std::string_view dest) const;
  std::optional<double> maybe_real(std::string_view dest) const;
  std::optional<std::string> maybe_text(std::string_view dest) const;

  const std::optional<std::vector<std::string>>& words_at(std::size_t slot) const {
    return entries_[slot].words;
  }
  const Origin& origin_at(std::size_t slot) const { return entries_[slot].origin; }

 private:
  struct Entry {
    std::optional<std::vector<std::string>> words;  // none: no value
    Origin origin;
  };
  const Entry& entry(std::string_view dest) const;
  std::vector<Entry> entries_;  // by slot
};

/// Returns the default of an option as words; nothing: it has no value.
std::optional<std::vector<std::string>> default_words(const Option& option);

/// Read numbers as the reference does, finite ones; nothing if `word` is something else.
std::optional<Index> read_integer(std::string_view word);
std::optional<double> read_real(std::string_view word);

}  // namespace mpitron::config
