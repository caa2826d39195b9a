#include "config/lora_config.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// Which linear layers get a low-rank update, by PEFT's rules: the last parts of a layer's name,
// `all-linear`, or a regular expression of whole names.

namespace mpitron::config {
namespace {

/// Returns whether `end` is the name or its last parts, between dots, or an expression of these.
bool ends_with_parts(const std::string& name, const std::string& end) {
  if (is_expression(end)) {
    return std::regex_match(name, std::regex("(?:.*\\.)?(?:" + end + ")"));
  }
  return name == end || name.ends_with("." + end);
}

/// Returns the value of the first entry whose name is the end of `module`, in whole parts: "q_proj"
/// is no end of "kq_proj".
template <class T>
T by_pattern(const std::map<std::string, T>& patterns, const std::string& module, T otherwise) {
  const auto found = std::ranges::find_if(
      patterns, [&](const auto& entry) { return ends_with_parts(module, entry.first); });
  return found == patterns.end() ? otherwise : found->second;
}

}  // namespace

bool is_expression(const std::string& target) {
  return target.find_first_of("*+?()[]{}|^$\\") != std::string::npos;
}

std::string problem_of_expression(const std::string& expression) {
  try {
    const std::regex compiled(expression);
    return "";
  } catch (const std::regex_error& error) {
    return fmt::format("\"{}\" is no regular expression ({})", expression, error.what());
  }
}

/// Rank and alpha may differ by pattern; the scale is alpha / r, or alpha / sqrt(r) of
/// rank-stabilised updates (Kalajdzievski 2023).
std::optional<LoraConfig::Update> LoraConfig::update_of(const std::string& module) const {
  const bool chosen = std::ranges::any_of(target_modules, [&](const std::string& target) {
    return target == "all-linear" ||
           (is_expression(target) ? std::regex_match(module, std::regex(target))
                                  : ends_with_parts(module, target));
  });
  if (!chosen) {
    return std::nullopt;
  }
  const Index own_rank = by_pattern(rank_pattern, module, rank);
  const double own_alpha = by_pattern(alpha_pattern, module, alpha);
  const auto r = static_cast<double>(own_rank);
  return Update{own_rank, own_alpha / (rank_stabilised ? std::sqrt(r) : r)};
}

namespace {

bool is_of_a_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// Replaces whole words of a name.
void replace_word(std::string& name, std::string_view from, std::string_view to) {
  for (std::size_t at = name.find(from); at != name.npos; at = name.find(from, at)) {
    const std::size_t behind = at + from.size();
    const bool whole = (at == 0 || !is_of_a_word(name[at - 1])) &&
                       (behind == name.size() || !is_of_a_word(name[behind]));
    if (whole) {
      name.replace(at, from.size(), to);
    }
    at += whole ? to.size() : from.size();
  }
}

/// Words of Llama's names, and Llama 4's for the same.
constexpr std::pair<std::string_view, std::string_view> kLlama4Words[] = {
    {"mlp", "feed_forward"}, {"shared_experts", "shared_expert"}};

}  // namespace

std::string module_of_llama(std::string llama4) {
  for (const auto& [word, other] : kLlama4Words) {
    replace_word(llama4, other, word);
  }
  return llama4;
}

std::string module_of_llama4(std::string llama) {
  for (const auto& [word, other] : kLlama4Words) {
    replace_word(llama, word, other);
  }
  return llama;
}

/// Rewrites the parts of a prefix that differ between the two programs, and drops the dot at its
/// end.
std::string module_name(std::string prefix) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"decoder.layers.", "model.layers."},
      {".self_attention.", ".self_attn."},
      {".local_experts.", "."},
  };
  for (const auto& [ours, theirs] : kNames) {
    const std::size_t place = prefix.find(ours);
    if (place != std::string::npos) {
      prefix.replace(place, ours.size(), theirs);
    }
  }
  return prefix.substr(0, prefix.find_last_not_of('.') + 1);
}

}  // namespace mpitron::config
