#include "config/values/option_values.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "utils/check.h"

// The store of option values: words by slot with their origin, read as numbers where asked for.
// Words were checked when they were stored, so reading cannot fail.

namespace mpitron::config {
namespace {

/// Reads whole words alone: "3x" is no number. A leading + is read as Python does.
template <class T>
std::optional<T> read_number(std::string_view word) {
  if (word.starts_with('+')) {
    word.remove_prefix(1);
  }
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return !word.empty() && error == std::errc() && end == word.data() + word.size()
             ? std::optional<T>(value)
             : std::nullopt;
}

}  // namespace

std::optional<Index> read_integer(std::string_view word) {
  return read_number<Index>(word);
}

std::optional<double> read_real(std::string_view word) {
  const std::optional<double> value = read_number<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Returns defaults as words, so that they and given values are read by one function.
std::optional<std::vector<std::string>> default_words(const Option& option) {
  if (!option.default_value) {
    return std::nullopt;
  }
  if (option.kind == Kind::words || option.kind == Kind::any_words) {
    return split_words(*option.default_value);
  }
  return std::vector{std::string(*option.default_value)};
}

/// Writes "default", "FILE:12" or "command line", for provenance columns.
std::string to_text(const Origin& origin) {
  switch (origin.source) {
    case Origin::Source::default_value:
      return "default";
    case Origin::Source::yaml:
      return origin.detail;
    case Origin::Source::command_line:
      return "command line";
    case Origin::Source::derived:
      return "derived: " + origin.detail;
  }
  return {};
}

/// Starts as the defaults of all options.
OptionValues::OptionValues() {
  const OptionIndex& index = option_index();
  entries_.resize(index.size());
  for (std::size_t slot = 0; slot < index.size(); ++slot) {
    entries_[slot].words = default_words(index.option(slot));
  }
}

void OptionValues::set(std::size_t slot, std::vector<std::string> words, Origin origin) {
  entries_[slot] = {std::move(words), std::move(origin)};
}

void OptionValues::derive(std::string_view dest, std::string word, std::string why) {
  derive(dest, std::vector{std::move(word)}, std::move(why));
}

/// Keeps the reason, for `config show` and messages.
void OptionValues::derive(std::string_view dest, std::vector<std::string> words, std::string why) {
  const std::size_t slot = option_index().slot_of_dest(dest);
  MPITRON_CHECK(slot != OptionIndex::kNotFound, dest);
  set(slot, std::move(words), {Origin::Source::derived, std::move(why)});
}

/// Treats a dest that no table has as a mistake of the program, not of the user.
const OptionValues::Entry& OptionValues::entry(std::string_view dest) const {
  const std::size_t slot = option_index().slot_of_dest(dest);
  MPITRON_CHECK(slot != OptionIndex::kNotFound, dest);
  return entries_[slot];
}

bool OptionValues::given(std::string_view dest) const {
  const Origin::Source source = entry(dest).origin.source;
  return source == Origin::Source::yaml || source == Origin::Source::command_line;
}

bool OptionValues::has(std::string_view dest) const {
  return entry(dest).words.has_value();
}

bool OptionValues::flag(std::string_view dest) const {
  const Entry& e = entry(dest);
  return e.words && e.words->at(0) == "true";
}

Index OptionValues::integer(std::string_view dest) const {
  const std::optional<Index> value = maybe_integer(dest);
  MPITRON_CHECK(value.has_value(), dest);
  return *value;
}

double OptionValues::real(std::string_view dest) const {
  const std::optional<double> value = maybe_real(dest);
  MPITRON_CHECK(value.has_value(), dest);
  return *value;
}

std::string OptionValues::text(std::string_view dest) const {
  const std::optional<std::string> value = maybe_text(dest);
  MPITRON_CHECK(value.has_value(), dest);
  return *value;
}

std::vector<std::string> OptionValues::words(std::string_view dest) const {
  return entry(dest).words.value_or(std::vector<std::string>{});
}

std::vector<Index> OptionValues::integers(std::string_view dest) const {
  std::vector<Index> out;
  for (const std::string& word : words(dest)) {
    out.push_back(read_integer(word).value());
  }
  return out;
}

std::optional<Index> OptionValues::maybe_integer(std::string_view dest) const {
  const Entry& e = entry(dest);
  return e.words ? read_integer(e.words->at(0)) : std::nullopt;
}

std::optional<double> OptionValues::maybe_real(std::string_view dest) const {
  const Entry& e = entry(dest);
  return e.words ? read_real(e.words->at(0)) : std::nullopt;
}

std::optional<std::string> OptionValues::maybe_text(std::string_view dest) const {
  const Entry& e = entry(dest);
  return e.words ? std::optional(e.words->at(0)) : std::nullopt;
}

}  // namespace mpitron::config
