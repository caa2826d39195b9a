#include <nlohmann/json.hpp>

#include "config/layer_pattern.h"
#include "convert/formats/megatron_names.h"
#include "utils/error.h"

// Arguments that Megatron stored beside its weights.

namespace mpitron::convert {
namespace {

using Kind = io::PickleValue::Kind;

/// Returns numbers, words and lists of them as JSON; null for everything else, such as classes and
/// torch types.
nlohmann::json plain(const io::PickleValue& value) {
  switch (value.kind) {
    case Kind::boolean:
      return value.integer != 0;
    case Kind::integer:
      return value.integer;
    case Kind::real:
      return value.real;
    case Kind::text:
      return std::string(value.text);
    case Kind::list:
    case Kind::tuple: {
      nlohmann::json items = nlohmann::json::array();
      for (const io::PickleValue* item : value.items) {
        items.push_back(item->items.empty() ? plain(*item) : nullptr);
      }
      return items;
    }
    default:
      return nullptr;
  }
}

/// Adds what the arguments leave open: they do not name the program that wrote them, and --spec
/// tells a Mamba model.
void complete(nlohmann::json& json, bool has_positions) {
  if (json.contains("layernorm_epsilon") && !json.contains("norm_epsilon")) {  // older name
    json["norm_epsilon"] = json["layernorm_epsilon"];
  }
  if (json.contains("spec") && json["spec"].dump().find("mamba") != std::string::npos) {
    json["model"] = "mamba";
    if (!has_positions && json.contains("position_embedding_type") &&
        json["position_embedding_type"] == "learned_absolute") {
      json["position_embedding_type"] = "none";
    }
  }
}

/// Refuses what would be read as something else.
void check_norms(const config::ModelConfig& model, const std::string& source) {
  if (model.apply_layernorm_1p && config::has_mixer(model, config::MixerKind::delta_net)) {
    throw_data(
        "{}: with --apply-layernorm-1p Megatron keeps weight - 1 in the norm behind a delta net, "
        "which cannot be converted yet",
        source);
  }
}

}  // namespace

ModelDescription read_megatron_arguments(const io::PickleValue& arguments,
                                         const std::string& source, bool has_positions) {
  const bool state = arguments.state != nullptr && arguments.state->kind == Kind::dict;
  const io::PickleValue& dict = state ? *arguments.state : arguments;
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t i = 0; i + 1 < dict.entries.size(); i += 2) {
    if (dict.entries[i]->kind == Kind::text) {
      json[std::string(dict.entries[i]->text)] = plain(*dict.entries[i + 1]);
    }
  }
  complete(json, has_positions);
  constexpr auto replace = nlohmann::json::error_handler_t::replace;  // what is not UTF-8
  ModelDescription result = from_configuration(json.dump(-1, ' ', false, replace), source);
  check_norms(result.model, source);
  if (json.contains("consumed_train_samples") &&
      json["consumed_train_samples"].is_number_integer()) {
    result.consumed_train_samples = json["consumed_train_samples"];
  }
  return result;
}

}  // namespace mpitron::convert
