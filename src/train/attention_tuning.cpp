#include "train/attention_tuning.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <variant>

#include "checkpoint/agreement.h"
#include "device/gpu.h"
#include "train/attention_meter.h"
#include "train/tuning_file.h"
#include "utils/error.h"
#include "utils/files.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

using config::AttentionBackend;
using kernels::AttentionKernel;
using kernels::AttentionShape;

/// What a shape without a choice of its own is given.
std::vector<AttentionKernel> order_of(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::fused:
      return {AttentionKernel::cudnn, AttentionKernel::wgmma, AttentionKernel::mma};
    case AttentionBackend::unfused:
    case AttentionBackend::local:
      return {AttentionKernel::mma};
    default:
      return {AttentionKernel::wgmma, AttentionKernel::mma};
  }
}

std::string name_of(device::Device& gpu) {
  return std::visit(
      []<class Stream>(const Stream& stream) -> std::string {
        if constexpr (std::is_same_v<Stream, device::CudaStream>) {
          return device::visible_gpus().gpus.at(static_cast<std::size_t>(stream.device)).name;
        } else {
          return Stream::name;
        }
      },
      gpu.stream());
}

Tuning read(const std::filesystem::path& path, const std::string& gpu) {
  if (path.empty() || !std::filesystem::exists(path)) {
    return {.gpu = gpu, .attention = {}};
  }
  Tuning tuning = tuning_of(read_file(path), path.string());
  if (tuning.gpu != gpu) {
    throw_data(
        "{}: measured on {}, but this run has {}: give another --tuning-file (it is written if it "
        "does not exist)",
        path.string(), tuning.gpu, gpu);
  }
  return tuning;
}

void write(const std::filesystem::path& path, const Tuning& tuning) {
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path());
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
  return fmt::format("attention {} [s {}, b {}, heads {} on {}, {}/{}]: {} runs ({})",
                     s.backward ? "backward" : "forward", s.s, s.b, s.n, s.g, s.d, s.dv,
                     name_of(measured.choice), times);
}

/// The file's choices for these shapes, with those that it lacks measured and added.
Tuning tuned(device::Device& gpu, const std::vector<AttentionShape>& shapes,
             const std::filesystem::path& path, bool by_name) {
  Tuning tuning = read(path, name_of(gpu));
  bool is_new = false;
  for (const AttentionShape& shape : shapes) {
    if (std::ranges::find(tuning.attention, shape, &MeasuredAttention::shape) !=
        tuning.attention.end()) {
      continue;
    }
    tuning.attention.push_back(AttentionMeter(gpu, shape).measure());
    log::info("{}", description_of(tuning.attention.back()));
    is_new = true;
  }
  if (is_new) {
    keep(path, tuning, by_name);
  }
  return tuning;
}

}  // namespace

std::vector<AttentionShape> tunable_attention(const config::RunConfig& config) {
  const config::ModelConfig& m = config.model;
  const Index tp = config.parallel.tensor_model_parallel_size;
  if (m.kind != config::ModelKind::gpt || m.params_dtype == DType::f32 || m.attention_dropout > 0 ||
      m.reset_attention_mask || config.parallel.context_parallel_size > 1) {
    return {};
  }
  AttentionShape shape{
      .backward = false,
      .type = m.params_dtype,
      .s = m.seq_length,
      .s_kv = m.seq_length,
      .b = config.training.micro_batch_size,
      .n = m.num_attention_heads / tp,
      .g = (m.multi_latent_attention ? m.num_attention_heads : m.num_query_groups) / tp,
      .d = m.multi_latent_attention ? m.qk_head_dim + m.qk_pos_emb_head_dim : m.kv_channels,
      .dv = m.multi_latent_attention ? m.v_head_dim : m.kv_channels,
      .causal = true,
      .window = m.window_size ? (*m.window_size)[0] : -1,
      .mask = false,
      .bias = false,
      .dropout = false};
  std::vector<AttentionShape> shapes(2, shape);
  shapes[1].backward = true;
  return shapes;
}

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

void tune_attention(device::Device& device, comm::World& world, const config::RunConfig& config) {
  const AttentionBackend backend = config.model.attention_backend;
  kernels::AttentionChoices& choices = kernels::attention_choices();
  choices = {.order = order_of(backend), .by_shape = {}};
  const bool by_name = config.training.tuning_file.has_value();
  const std::vector<AttentionShape> shapes = tunable_attention(config);
  if (device.tensors_on_host() || backend != AttentionBackend::automatic || shapes.empty() ||
      (config.training.deterministic_mode && !by_name)) {
    return;
  }
  const std::shared_ptr<comm::Group> all = world.all();
  std::string text;
  checkpoint::on_member_0(*all, [&] {
    const std::filesystem::path path = by_name ? std::filesystem::path(*config.training.tuning_file)
                                               : default_tuning_file(name_of(device));
    text = to_json(tuned(device, shapes, path, by_name));
  });
  for (const MeasuredAttention& measured :
       tuning_of(checkpoint::broadcast_text(*all, text, 0), "rank 0's choices").attention) {
    choices.by_shape[measured.shape] = measured.choice;
  }
}

}  // namespace mpitron::train
