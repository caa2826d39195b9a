#include "train/tuning_file.h"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>

#include "utils/error.h"

namespace mpitron::train {
namespace {

using kernels::AttentionKernel;
using kernels::AttentionShape;
using nlohmann::ordered_json;

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16};

/// The value that `name_of` calls so.
template <class T>
T named(std::span<const T> all, const std::string& name) {
  const auto at = std::ranges::find_if(all, [&](T value) { return name == name_of(value); });
  if (at == all.end()) {
    throw_data("\"{}\" is not known", name);
  }
  return *at;
}

ordered_json json_of(const AttentionShape& s) {
  return {{"pass", s.backward ? "backward" : "forward"},
          {"type", name_of(s.type)},
          {"queries", s.s},
          {"keys", s.s_kv},
          {"samples", s.b},
          {"heads", s.n},
          {"groups", s.g},
          {"head_size", s.d},
          {"value_size", s.dv},
          {"causal", s.causal},
          {"window", s.window},
          {"mask", s.mask},
          {"bias", s.bias},
          {"dropout", s.dropout}};
}

AttentionShape shape_from(const ordered_json& object) {
  const auto number = [&](const char* name) { return object.at(name).get<Index>(); };
  const auto flag = [&](const char* name) { return object.at(name).get<bool>(); };
  return {.backward = object.at("pass").get<std::string>() == "backward",
          .type = named<DType>(kTypes, object.at("type").get<std::string>()),
          .s = number("queries"),
          .s_kv = number("keys"),
          .b = number("samples"),
          .n = number("heads"),
          .g = number("groups"),
          .d = number("head_size"),
          .dv = number("value_size"),
          .causal = flag("causal"),
          .window = number("window"),
          .mask = flag("mask"),
          .bias = flag("bias"),
          .dropout = flag("dropout")};
}

ordered_json json_of(const MeasuredAttention& measured) {
  ordered_json object = json_of(measured.shape);
  for (const auto& [kernel, time] : measured.microseconds) {
    object["microseconds"][name_of(kernel)] = time;
  }
  object["choice"] = name_of(measured.choice);
  return object;
}

MeasuredAttention measured_from(const ordered_json& object) {
  const auto kernel = [](const std::string& name) {
    return named<AttentionKernel>(kernels::kAttentionKernels, name);
  };
  MeasuredAttention measured{.shape = shape_from(object),
                             .microseconds = {},
                             .choice = kernel(object.at("choice").get<std::string>())};
  for (const auto& [name, time] : object.at("microseconds").items()) {
    measured.microseconds[kernel(name)] = time.get<double>();
  }
  return measured;
}

}  // namespace

std::string to_json(const Tuning& tuning) {
  ordered_json object = {{"gpu", tuning.gpu}, {"attention", ordered_json::array()}};
  for (const MeasuredAttention& measured : tuning.attention) {
    object["attention"].push_back(json_of(measured));
  }
  return object.dump(2) + "\n";
}

Tuning tuning_of(const std::string& text, const std::string& origin) try {
  const ordered_json object = ordered_json::parse(text);
  Tuning tuning{.gpu = object.at("gpu").get<std::string>(), .attention = {}};
  for (const ordered_json& entry : object.at("attention")) {
    tuning.attention.push_back(measured_from(entry));
  }
  return tuning;
} catch (const std::exception& error) {
  throw_data("{}: not a tuning file ({}). Remove it to have its shapes measured anew", origin,
             error.what());
}

}  // namespace mpitron::train
