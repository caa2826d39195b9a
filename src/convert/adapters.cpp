#include "convert/adapters.h"

#include <cstring>

#include "config/lora_config.h"
#include "io/arrays/peft_folder.h"
#include "utils/error.h"

// LoRA updates of PEFT's files, added to a base model while it is read.

namespace mpitron::convert {
namespace {

constexpr std::string_view kWeight = ".weight";

/// Returns a factor in fp32, row by row.
std::vector<float> factor(const io::PeftFolder& adapter, const std::string& module,
                          const char* name) {
  const auto& stored = adapter.weights().at(io::kPeftPrefix + module + name);
  const auto dtype = io::dtype_of(stored.type);
  if (!dtype) {
    throw_data("{}: {} is of the type {}", adapter.path().string(), stored.name,
               io::safetensors_name(stored.type));
  }
  const TensorInfo info{stored.name, {stored.shape.at(0), stored.shape.at(1)}, *dtype};
  const HostTensor values = cast(HostTensor(info, stored.data), DType::f32);
  std::vector<float> result(values.bytes().size() / sizeof(float));
  std::memcpy(result.data(), values.bytes().data(), values.bytes().size());
  return result;
}

config::LoraConfig lora_of(const io::PeftFolder& adapter) {
  const io::PeftConfig& stored = adapter.config();
  config::LoraConfig config{.rank = stored.rank,
                            .alpha = stored.alpha,
                            .rank_stabilised = stored.rank_stabilised,
                            .target_modules = {"all-linear"},
                            .rank_pattern = {},
                            .alpha_pattern = stored.alpha_pattern};
  for (const auto& [module, rank] : stored.rank_pattern) {
    config.rank_pattern[module] = static_cast<Index>(rank);
  }
  return config;
}

/// A model whose weights get their updates while they are read, so that at most one sum is in
/// memory.
class MergedAdapter final : public TensorSource {
 public:
  MergedAdapter(TensorSource& base, const io::PeftFolder& adapter)
      : base_(base), adapter_(adapter), config_(lora_of(adapter)) {
    std::string problems;
    for (const std::string& module : adapter.modules()) {
      problems += problem_of(module);
    }
    if (!problems.empty()) {
      throw_data("{}: is for another model:{}", adapter.path().string(), problems);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return base_.tensors(); }

  HostTensor read(const std::string& name) override {
    const std::string module =
        name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size()) : "";
    if (adapter_.weights().find(io::kPeftPrefix + module + ".lora_A.weight") == nullptr) {
      return base_.read(name);
    }
    const HostTensor weight = base_.read(name);
    const TensorInfo info{name, weight.shape(), DType::f32};
    HostTensor sum(info);
    const HostTensor values = cast(weight, DType::f32);
    std::memcpy(sum.data(), values.bytes().data(), values.bytes().size());
    add_update(module, weight.shape(), reinterpret_cast<float*>(sum.data()));
    return cast(sum, weight.dtype());
  }

 private:
  /// Returns a line on what does not fit, or an empty text.
  std::string problem_of(const std::string& module) const {
    const TensorInfo* const weight = base_.find(module + std::string(kWeight));
    if (weight == nullptr) {
      return fmt::format("\n  {} is not in the model", module);
    }
    const Index rank = config_.update_of(module)->rank;
    const auto& a = adapter_.weights().at(io::kPeftPrefix + module + ".lora_A.weight").shape;
    const auto& b = adapter_.weights().at(io::kPeftPrefix + module + ".lora_B.weight").shape;
    const bool fits = a == std::vector<Index>{rank, weight->shape[1]} &&
                      b == std::vector<Index>{weight->shape[0], rank};
    return fits ? ""
                : fmt::format("\n  {}: factors of another shape than rank {} of {}", module, rank,
                              to_string(weight->shape));
  }

  /// Adds s B A row by row; the row is summed before it is scaled, as PEFT merges.
  void add_update(const std::string& module, const Shape& shape, float* sum) const {
    const config::LoraConfig::Update update = *config_.update_of(module);
    const std::vector<float> a = factor(adapter_, module, ".lora_A.weight");
    const std::vector<float> b = factor(adapter_, module, ".lora_B.weight");
    const auto scale = static_cast<float>(update.scale);
    const auto columns = static_cast<std::size_t>(shape[1]);
    const auto rank = static_cast<std::size_t>(update.rank);
    std::vector<float> row(columns);
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i) {
      std::fill(row.begin(), row.end(), 0.f);
      for (std::size_t k = 0; k < rank; ++k) {
        for (std::size_t j = 0; j < columns; ++j) {
          row[j] += b[i * rank + k] * a[k * columns + j];
        }
      }
      for (std::size_t j = 0; j < columns; ++j) {
        sum[i * columns + j] += scale * row[j];
      }
    }
  }

  TensorSource& base_;
  const io::PeftFolder& adapter_;
  config::LoraConfig config_;
};

}  // namespace

std::unique_ptr<TensorSource> merged(TensorSource& base, const io::PeftFolder& adapter) {
  return std::make_unique<MergedAdapter>(base, adapter);
}

}  // namespace mpitron::convert
