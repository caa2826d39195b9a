#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/options/option.h"

namespace mpitron::config {

/// Rows of one group of `--help`; a long group has several tables in a row.
struct OptionTable {
  std::string_view group;
  std::span<const Option> rows;
};

/// Returns every option there is, in the order of `--help`.
std::span<const OptionTable> option_tables();

/// Group of the options whose names only older releases had; not part of the reference's parser.
inline constexpr std::string_view kOlderNamesGroup = "older names";
/// Group of the options that only later releases have.
inline constexpr std::string_view kLaterReleasesGroup = "later releases";
/// Group of the options that the reference does not have.
inline constexpr std::string_view kOwnGroup = "mpitron";

/// Returns the name under which an option's value is stored, e.g. add_bias_linear for
/// --disable-bias-linear.
std::string dest_of(const Option& option);

/// Finds options by name, by alias and by stored name. A slot numbers the options in table order.
class OptionIndex {
 public:
  static constexpr std::size_t kNotFound = static_cast<std::size_t>(-1);

  OptionIndex();
  std::size_t size() const { return options_.size(); }
  const Option& option(std::size_t slot) const { return *options_[slot]; }
  const std::string& dest(std::size_t slot) const { return dests_[slot]; }
  std::string_view group(std::size_t slot) const { return groups_[slot]; }
  /// Finds an option without dashes in front; `_` also stands for `-`. kNotFound if there is no
  /// such option.
  std::size_t slot_of_name(std::string_view name) const;
  std::size_t slot_of_dest(std::string_view dest) const;
  /// Returns up to three options with a name close to `name`, nearest first, with their dashes.
  std::vector<std::string> similar_names(std::string_view name) const;

 private:
  std::vector<const Option*> options_;
  std::vector<std::string> dests_;
  std::vector<std::string_view> groups_;
  std::unordered_map<std::string, std::size_t> by_name_;  // spelled with _
  std::unordered_map<std::string, std::size_t> by_dest_;
};

/// The one index of the program (immutable).
const OptionIndex& option_index();

/// Returns the parts of a blank-separated list.
std::vector<std::string> split_words(std::string_view text);

}  // namespace mpitron::config
