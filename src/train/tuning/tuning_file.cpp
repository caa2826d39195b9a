#include "train/tuning/tuning_file.h"

#include <algorithm>
#include <span>

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/text/json_nesting.h"

// Writes choices and their times as JSON, by shape, and reads them back.

namespace mpitron::train {
namespace {

using kernels::AttentionKernel;
using kernels::AttentionMask;
using kernels::AttentionShape;
using kernels::GemmAlgorithm;
using kernels::GemmShape;
using nlohmann::ordered_json;

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16, DType::u8};

/// Finds the value that `name_of` calls so.
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
          {"mask", name_of(s.mask)},
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
          .mask = named<AttentionMask>(kernels::kAttentionMasks, object.at("mask")),
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
  if (object.contains("microseconds")) {
    for (const auto& [name, time] : object.at("microseconds").items()) {
      measured.microseconds[kernel(name)] = time.get<double>();
    }
  }
  return measured;
}

// --- products -----------------------------------------------------------------------------------

template <class T>
struct Member {
  const char* name;
  T value;
};
constexpr Member<Index GemmShape::*> kExtents[] = {
    {"m", &GemmShape::m},
    {"n", &GemmShape::n},
    {"k", &GemmShape::k},
    {"a_stride", &GemmShape::a_stride},
    {"b_stride", &GemmShape::b_stride},
    {"c_stride", &GemmShape::c_stride},
};
constexpr Member<bool GemmShape::*> kFlags[] = {
    {"transpose_a", &GemmShape::transpose_a},
    {"transpose_b", &GemmShape::transpose_b},
    {"accumulate", &GemmShape::accumulate},
};
constexpr Member<std::uint16_t GemmShape::*> kAlignments[] = {
    {"a_alignment", &GemmShape::a_alignment},
    {"b_alignment", &GemmShape::b_alignment},
    {"c_alignment", &GemmShape::c_alignment},
};
constexpr Member<Fp8Format GemmShape::*> kFormats[] = {{"a_format", &GemmShape::a_format},
                                                       {"b_format", &GemmShape::b_format}};
constexpr Member<std::int32_t GemmAlgorithm::*> kSettings[] = {
    {"id", &GemmAlgorithm::id},
    {"tile", &GemmAlgorithm::tile},
    {"stages", &GemmAlgorithm::stages},
    {"split_k", &GemmAlgorithm::split_k},
    {"reduction", &GemmAlgorithm::reduction},
    {"swizzle", &GemmAlgorithm::swizzle},
    {"custom", &GemmAlgorithm::custom},
    {"inner_shape", &GemmAlgorithm::inner_shape},
    {"cluster", &GemmAlgorithm::cluster},
};

/// Calls visit(name, member) for the members of a shape beside types, formats and epilogue.
template <class Visit>
void for_each_number(const Visit& visit) {
  std::ranges::for_each(kExtents, [&](const auto& it) { visit(it.name, it.value); });
  std::ranges::for_each(kFlags, [&](const auto& it) { visit(it.name, it.value); });
  std::ranges::for_each(kAlignments, [&](const auto& it) { visit(it.name, it.value); });
}

ordered_json json_of(const GemmShape& shape) {
  ordered_json object = {{"type", name_of(shape.type)},
                         {"c_type", name_of(shape.c_type)},
                         {"epilogue", name_of(shape.epilogue)}};
  for_each_number([&](const char* name, auto member) { object[name] = shape.*member; });
  for (const auto& [name, member] : kFormats) {
    object[name] = shape.*member == Fp8Format::e4m3 ? "e4m3" : "e5m2";
  }
  return object;
}

GemmShape gemm_shape_from(const ordered_json& object) {
  GemmShape shape{.type = named<DType>(kTypes, object.at("type")),
                  .c_type = named<DType>(kTypes, object.at("c_type")),
                  .epilogue = named<kernels::Epilogue>(kernels::kEpilogues, object.at("epilogue"))};
  for_each_number([&](const char* name, auto member) { object.at(name).get_to(shape.*member); });
  for (const auto& [name, member] : kFormats) {
    shape.*member = object.at(name) == "e5m2" ? Fp8Format::e5m2 : Fp8Format::e4m3;
  }
  return shape;
}

ordered_json json_of(const MeasuredGemm::Trial& trial) {
  ordered_json algorithm;
  if (trial.algorithm) {
    for (const auto& [name, member] : kSettings) {
      algorithm[name] = *trial.algorithm.*member;
    }
  }
  return {{"algorithm", algorithm}, {"microseconds", trial.microseconds}};
}

MeasuredGemm::Trial trial_from(const ordered_json& object) {
  MeasuredGemm::Trial trial{.algorithm = {},
                            .microseconds = object.at("microseconds").get<double>()};
  if (const ordered_json& algorithm = object.at("algorithm"); !algorithm.is_null()) {
    trial.algorithm.emplace();
    for (const auto& [name, member] : kSettings) {
      algorithm.at(name).get_to(*trial.algorithm.*member);
    }
  }
  return trial;
}

ordered_json json_of(const MeasuredGemm& measured) {
  ordered_json object = json_of(measured.shape);
  object["tried"] = ordered_json::array();
  for (const MeasuredGemm::Trial& trial : measured.tried) {
    object["tried"].push_back(json_of(trial));
  }
  object["choice"] = measured.choice;
  return object;
}

MeasuredGemm gemm_from(const ordered_json& object) {
  MeasuredGemm measured{.shape = gemm_shape_from(object),
                        .tried = {},
                        .choice = object.at("choice").get<std::size_t>()};
  for (const ordered_json& trial : object.at("tried")) {
    measured.tried.push_back(trial_from(trial));
  }
  if (measured.choice >= measured.tried.size()) {
    throw_data("choice {} of {} algorithms that were tried", measured.choice,
               measured.tried.size());
  }
  return measured;
}

}  // namespace

std::string to_json(const Tuning& tuning) {
  ordered_json object = {{"gpu", tuning.gpu},
                         {"cublaslt", tuning.cublaslt},
                         {"attention", ordered_json::array()},
                         {"products", ordered_json::array()}};
  for (const MeasuredAttention& measured : tuning.attention) {
    object["attention"].push_back(json_of(measured));
  }
  for (const MeasuredGemm& measured : tuning.products) {
    object["products"].push_back(json_of(measured));
  }
  return object.dump(2) + "\n";
}

Tuning tuning_of(const std::string& text, const std::string& origin) try {
  const ordered_json object = nests_too_deep(text) ? ordered_json() : ordered_json::parse(text);
  Tuning tuning{.gpu = object.at("gpu").get<std::string>(),
                .cublaslt = object.at("cublaslt").get<Index>(),
                .attention = {},
                .products = {}};
  for (const ordered_json& entry : object.at("attention")) {
    tuning.attention.push_back(measured_from(entry));
  }
  for (const ordered_json& entry : object.at("products")) {
    tuning.products.push_back(gemm_from(entry));
  }
  return tuning;
} catch (const std::exception& error) {
  throw_data("{}: not a tuning file ({}). Remove it to have its shapes measured anew", origin,
             error.what());
}

}  // namespace mpitron::train
