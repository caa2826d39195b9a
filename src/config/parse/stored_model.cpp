#include "config/parse/stored_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "config/parse/stored_model_lists.h"
#include "config/resolve/derive.h"
#include "config/resolve/resolve.h"
#include "config/rules/constraint.h"
#include "utils/error.h"
#include "utils/text/json_nesting.h"

// A model from the options that a checkpoint stores, its own or Megatron's. The same tables,
// derivations and rules are used as for a command line; only options that say what a model is are
// read, since a file from elsewhere must not choose how this run computes.

namespace mpitron::config {
namespace {

using Json = nlohmann::ordered_json;

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// Python stores some integers as 1.0; a fraction stays as it is and is refused by the option's
/// type.
std::string word_of(const Json& value, const Option& option) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  const double real = value.is_number() ? value.get<double>() : 0.5;
  const bool whole = std::trunc(real) == real && std::abs(real) < 1e15;
  return option.type == Type::integer && whole ? fmt::format("{}", static_cast<Index>(real))
                                               : value.dump();
}

/// Returns a list as several words, or as the one that the command line has for it: "127,0",
/// "[0,1]".
std::vector<std::string> words_of(const Json& value, const Option& option) {
  if (!value.is_array() || option.type == Type::frequency) {
    return {word_of(value, option)};
  }
  std::vector<std::string> words;
  for (const Json& item : value) {
    words.push_back(word_of(item, option));
  }
  return option.kind == Kind::value ? std::vector{fmt::format("{}", fmt::join(words, ","))} : words;
}

/// The options that were read, as values of the option table.
class StoredValues {
 public:
  StoredValues(const std::string& text, std::string source) : source_(std::move(source)) {
    json_ = unlike_real_objects(text) ? Json() : Json::parse(text, nullptr, false);
    if (!json_.is_object()) {
      throw_data("{}: the configuration is no JSON object", source_);
    }
    for (const auto& [name, value] : json_.items()) {
      const std::size_t slot = option_index().slot_of_dest(name);
      if (slot == OptionIndex::kNotFound || value.is_null()) {
        continue;
      }
      if (belongs_to_model(slot)) {
        take(slot, value);
        taken_[option_index().dest(slot)] = taken_value(slot, value);
      } else if (contains(kStoredTokenizer, option_index().dest(slot))) {
        take(slot, value);
      }
    }
    refuse(reading_.findings);
    const Index layers = values_.maybe_integer("num_layers").value_or(0);
    if (layers > kMostLayers) {
      throw_data("{}: {} layers, allowed are {}", source_, layers, kMostLayers);
    }
    derive_values(values_, 1, reading_);
  }

  const OptionValues& values() const { return values_; }
  bool names_tokenizer() const { return taken_.contains("tokenizer_type"); }
  std::string text() const { return taken_.dump(); }

  void refuse(const std::vector<Finding>& findings) const {
    if (!findings.empty()) {
      throw_data("{}: {}", source_, to_text(findings));
    }
  }

 private:
  /// Returns whether an option is read. The reference also stores the number of layers as that of
  /// an encoder; only where images are seen is it another one.
  bool belongs_to_model(std::size_t slot) const {
    const std::string& dest = option_index().dest(slot);
    if (dest.starts_with("encoder_")) {
      const auto model = json_.find("model");
      return model != json_.end() && *model == family_of(ModelKind::vlm).name;
    }
    return (contains(kStoredGroups, option_index().group(slot)) || contains(kStoredOthers, dest)) &&
           !contains(kStoredUnread, dest);
  }

  /// The value as it is told on: a list that is one word of the command line as that word.
  static Json taken_value(std::size_t slot, const Json& value) {
    const Option& option = option_index().option(slot);
    const bool one_word = value.is_array() && option.kind == Kind::value;
    return one_word ? Json(words_of(value, option).front()) : value;
  }

  void take(std::size_t slot, const Json& value) {
    const Option& option = option_index().option(slot);
    const Origin origin{Origin::Source::yaml, source_};
    std::vector<std::string> words = words_of(value, option);
    const bool off = option.kind == Kind::flag_off;
    if (value.is_boolean() && option.type == Type::boolean) {
      if (value.get<bool>() == off) {  // as without the flag
        values_.set(slot, std::move(words), origin);
        return;
      }
      words.clear();
    }
    accept_option({slot, std::move(words), origin}, values_, reading_);
  }

  std::string source_;
  Json json_, taken_ = Json::object();
  OptionValues values_;
  Reading reading_;
};

std::vector<Finding> broken_rules(const Facts& facts) {
  std::vector<Finding> findings = check_constraints(facts);
  std::erase_if(findings, [](const Finding& found) { return !contains(kStoredRules, found.name); });
  return findings;
}

/// Drops losses, masks and layouts of training: who reads the model computes with it and learns
/// nothing.
void forget_training(ModelConfig& model) {
  model.reset_attention_mask = false;
  if (model.moe) {
    model.moe->balancing_losses.clear();
    model.moe->z_loss_coefficient = 0;
    model.moe->force_load_balancing = model.moe->shared_expert_overlap = false;
    model.moe->dispatcher = MoeConfig().dispatcher;
  }
}

}  // namespace

StoredModel read_stored_model(const std::string& configuration, const std::string& source) {
  const StoredValues stored(configuration, source);
  const OptionValues& values = stored.values();
  RunConfig run = resolve(values);
  stored.refuse(broken_rules({values, run}));
  forget_training(run.model);
  StoredModel result{.model = std::move(run.model), .options = stored.text()};
  if (stored.names_tokenizer()) {
    result.tokenizer = run.data;
  }
  const Index ids = values.maybe_integer("vocab_size").value_or(0);
  const bool adds_end = values.maybe_text("tokenizer_type").value_or("") == "NullTokenizer";
  result.vocab_size = ids > 0 && adds_end ? ids + 1 : ids;
  return result;
}

}  // namespace mpitron::config
