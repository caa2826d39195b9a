#include "train/tuning/kernel_tuning.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <variant>

#include "checkpoint/plan/agreement.h"
#include "device/device.h"
#include "train/tuning/kernel_meters.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

// Choices of kernels over the life of a run: read from a file, measured for shapes that are new in
// the first step, told to all ranks by rank 0, and written back.

namespace mpitron::train {
namespace {

using config::AttentionBackend;
using kernels::AttentionShape;
using kernels::GemmShape;

/// Returns a tuning without measurements for this GPU and its libraries.
Tuning empty_tuning(device::Device& gpu) {
  return std::visit(
      []<class Stream>(const Stream& stream) -> Tuning {
        if constexpr (std::is_same_v<Stream, device::CudaStream>) {
          const auto index = static_cast<std::size_t>(stream.device);
          return {.gpu = device::visible_gpus().gpus.at(index).name,
                  .cublaslt = kernels::gemm_library_version(stream)};
        } else {
          return {.gpu = Stream::name};
        }
      },
      gpu.stream());
}

/// Reads the file's measurements, as far as they are of this GPU and its libraries.
Tuning read(const std::filesystem::path& path, const Tuning& empty) {
  if (path.empty() || !std::filesystem::exists(path)) {
    return empty;
  }
  Tuning tuning = tuning_of(read_file(path), path.string());
  if (tuning.gpu != empty.gpu) {
    throw_data(
        "{}: measured on {}, but this run has {}: give another --tuning-file (it is written if it "
        "does not exist)",
        path.string(), tuning.gpu, empty.gpu);
  }
  if (tuning.cublaslt != empty.cublaslt) {
    if (!tuning.products.empty()) {
      log::warning("{}: its products are of cuBLASLt {}, this is {}: they are measured again",
                   path.string(), tuning.cublaslt, empty.cublaslt);
    }
    tuning.cublaslt = empty.cublaslt;
    tuning.products.clear();
  }
  return tuning;
}

void write(const std::filesystem::path& path, const Tuning& tuning) {
  if (path.has_parent_path()) {
    make_folder("--tuning-file", path.parent_path());
  }
  AtomicFile file(path);
  file.write(to_json(tuning));
  file.commit();
}

/// Writes the file; one that nobody asked for by name may fail.
void keep(const std::filesystem::path& path, const Tuning& tuning, bool by_name) {
  try {
    if (!path.empty()) {
      write(path, tuning);
    }
  } catch (const std::exception& error) {
    if (by_name) {
      throw_data("--tuning-file {}: {}", path.string(), error.what());
    }
    log::warning("choices of attention kernels are not kept: {}", error.what());
  }
}

std::string description_of(const MeasuredAttention& measured) {
  const AttentionShape& s = measured.shape;
  std::string times;
  for (const auto& [kernel, time] : measured.microseconds) {
    times += fmt::format("{}{} {:.0f} us", times.empty() ? "" : ", ", name_of(kernel), time);
  }
  return fmt::format(
      "attention {} [s {} on {}, b {}, heads {} on {}, {}/{}, mask {}]: {} runs ({})",
      s.backward ? "backward" : "forward", s.s, s.s_kv, s.b, s.n, s.g, s.d, s.dv, name_of(s.mask),
      name_of(measured.choice), times);
}

std::string description_of(const MeasuredGemm& measured) {
  const MeasuredGemm::Trial& choice = measured.tried.at(measured.choice);
  const GemmShape& s = measured.shape;
  return fmt::format(
      "[{} x {} x {}] {}: {} {:.0f} us, cuBLASLt's own choice {:.0f} us", s.m, s.n, s.k,
      name_of(s.type),
      choice.algorithm ? fmt::format("algorithm {}", choice.algorithm->id) : std::string("that"),
      choice.microseconds, measured.tried.at(0).microseconds);
}

/// Joins the shapes of all ranks, each once.
template <class Measured>
auto union_of(const std::vector<std::string>& met, std::vector<Measured> Tuning::*part) {
  std::set<decltype(Measured::shape)> shapes;
  for (const std::string& text : met) {
    const Tuning of_rank = tuning_of(text, "what a rank has met");
    for (const Measured& one : of_rank.*part) {
      shapes.insert(one.shape);
    }
  }
  return shapes;
}

}  // namespace

/// Chooses one file a kind of GPU, below the user's cache folder.
std::filesystem::path default_tuning_file(std::string_view gpu_name) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache == nullptr && home == nullptr) {
    return {};
  }
  std::string name = fmt::format("attention-{}.json", gpu_name);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isspace(c) != 0 || c == '/'; }, '-');
  const std::filesystem::path folder =
      cache != nullptr ? std::filesystem::path(cache) : std::filesystem::path(home) / ".cache";
  return folder / "mpitron" / name;
}

KernelTuning::KernelTuning(device::Device& device, comm::World& world,
                           const config::RunConfig& config)
    : device_(device),
      all_(world.all()),
      by_name_(config.training.tuning_file.has_value()),
      attention_(config.model.attention_backend == AttentionBackend::automatic &&
                 config.training.attention_kernel == "auto" &&
                 (by_name_ || !config.training.deterministic_mode)),
      products_(by_name_) {
  kernels::attention_choices().by_shape.clear();
  if (device.tensors_on_host()) {
    if (by_name_) {
      log::print(" > --tuning-file: the processor computes everything in this run");
    }
    return;
  }
  if (!attention_ && !products_) {
    return;
  }
  std::string text;
  checkpoint::on_member_0(*all_, [&] {
    const Tuning empty = empty_tuning(device);
    path_ = by_name_ ? std::filesystem::path(*config.training.tuning_file)
                     : default_tuning_file(empty.gpu);
    text = to_json(read(path_, empty));
  });
  tuning_ = tuning_of(checkpoint::broadcast_text(*all_, text, 0), "rank 0's choices");
  apply();
  noting_ = true;
  if (attention_) {
    kernels::met_attentions().begin();
  }
  if (products_) {
    kernels::met_gemms().begin();
  }
}

KernelTuning::~KernelTuning() {
  kernels::met_attentions().end();
  kernels::met_gemms().end();
}

/// Tells the kernels' choices what the file knows.
void KernelTuning::apply() const {
  if (attention_) {
    for (const MeasuredAttention& measured : tuning_.attention) {
      kernels::attention_choices().by_shape[measured.shape] = measured.choice;
    }
  }
  if (products_) {
    kernels::GemmAlgorithms algorithms;
    for (const MeasuredGemm& measured : tuning_.products) {
      algorithms[measured.shape] = measured.tried.at(measured.choice).algorithm;
    }
    kernels::choose_gemm_algorithms(std::move(algorithms));
  }
}

/// Behind the first step: shapes that any rank has met and nobody has measured are measured by rank
/// 0. True where a choice has changed; all ranks have the same ones, so that their bits agree.
bool KernelTuning::complete() {
  if (!noting_) {
    return false;
  }
  noting_ = false;
  Tuning met{.gpu = tuning_.gpu};
  for (const AttentionShape& shape : kernels::met_attentions().end()) {
    met.attention.push_back({.shape = shape});
  }
  for (const GemmShape& shape : kernels::met_gemms().end()) {
    met.products.push_back({.shape = shape});
  }
  const std::vector<std::string> all_met = checkpoint::collect_texts(*all_, to_json(met));
  std::string text;
  checkpoint::on_member_0(*all_, [&] { text = to_json(measured(all_met)); });
  Tuning completed = tuning_of(checkpoint::broadcast_text(*all_, text, 0), "rank 0's choices");
  if (completed == tuning_) {
    return false;
  }
  tuning_ = std::move(completed);
  apply();
  return true;
}

/// Measures what is not known yet; the file is written where it has grown.
Tuning KernelTuning::measured(const std::vector<std::string>& met) {
  Tuning tuning = tuning_;
  for (const AttentionShape& shape : union_of(met, &Tuning::attention)) {
    tuning.attention.push_back(AttentionMeter(device_, shape).measure());
    log::info("{}", description_of(tuning.attention.back()));
  }
  const auto products = union_of(met, &Tuning::products);
  for (const GemmShape& shape : products) {
    tuning.products.push_back(GemmMeter(device_, shape).measure());
    log::info("product {} of {} {}", tuning.products.size() - tuning_.products.size(),
              products.size(), description_of(tuning.products.back()));
  }
  if (tuning != tuning_) {
    keep(path_, tuning, by_name_);
  }
  return tuning;
}

}  // namespace mpitron::train
