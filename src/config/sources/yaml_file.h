#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/sources/given_option.h"

namespace mpitron::config {

/// Reads options from a YAML file: `hidden-size: 1024` or `hidden_size: 1024`, flat or nested by
/// the groups of `--help`, lists as YAML lists, flags as true or false (nothing else). A stored
/// name works too (`add_bias_linear: false`). `${NAME}` and `${NAME:-text}` insert environment
/// variables. Every mistake becomes a finding with its line: unreadable file, wrong syntax, unknown
/// or repeated key, unset variable.
Reading read_yaml_file(const std::string& path);

/// A name of the reference's YAML files that is no option's, with its meaning: these files fill the
/// fields of TransformerConfig and ModelParallelConfig.
struct YamlName {
  enum class Meaning {
    other_name,   // of the option stored as `dest`
    without_use,  // a choice of kernels, or set by the reference itself, whatever it says
    must_be_off,  // false, 0 or nothing: what it switches on has another option here, or none
    activation,   // swiglu, squaredrelu or gelu
    initial       // xavier_uniform, or nothing
  };
  std::string_view name;
  Meaning meaning;
  std::string_view dest;  // of other_name; of must_be_off: the option to take instead, or nothing
};

/// Returns nothing where the reference's files know no such name either.
std::optional<YamlName> yaml_name(std::string_view name);

/// Returns the dest of the flag that an activation of the reference's files switches on, empty for
/// gelu; nothing for any other word.
std::optional<std::string_view> flag_of_activation(std::string_view word);

/// Returns true and false as YAML 1.1 spells them (True, yes, on); nothing for any other word.
std::optional<bool> yaml_boolean(std::string_view word);

}  // namespace mpitron::config
