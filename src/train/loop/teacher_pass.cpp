// Writes a teacher's file. Rank 0 lays it out with all keys first; then every replica writes its
// rows at known offsets, so ranks neither wait for each other nor share a library's state.
#include "train/loop/teacher_pass.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "checkpoint/format/posix_file.h"
#include "checkpoint/plan/agreement.h"
#include "tensor/host_copy.h"
#include "train/batches/microbatch_stream.h"
#include "utils/log.h"
#include "utils/system/parallel_for.h"
#include "utils/timer.h"

namespace mpitron::train {
namespace {

/// Likeliest words of tokens: [tokens, k] each.
struct LikeliestWords {
  std::vector<std::int32_t> ids;
  std::vector<float> log_probs;
};

/// Takes the k likeliest of one row of logits; of equal ones the lower id comes first.
void take_likeliest(std::span<const float> logits, std::span<std::int32_t> ids,
                    std::span<float> log_probs) {
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(ids.size());
  const auto at = [&](std::int32_t id) { return logits[static_cast<std::size_t>(id)]; };
  std::partial_sort(order.begin(), middle, order.end(), [&](std::int32_t a, std::int32_t b) {
    return at(a) != at(b) ? at(a) > at(b) : a < b;
  });
  const auto largest = static_cast<double>(at(order[0]));
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = order[i];
    log_probs[i] = static_cast<float>(static_cast<double>(at(order[i])) - largest - std::log(sum));
  }
}

/// Takes those of the sequence of row `sample` of logits [s, b, v].
LikeliestWords likeliest(const tensor::Tensor& logits, Index sample, Index k, Index threads) {
  const Index s = logits.shape()[0], b = logits.shape()[1], v = logits.shape()[2];
  const auto words = static_cast<std::size_t>(s * k);
  LikeliestWords result{std::vector<std::int32_t>(words), std::vector<float>(words)};
  parallel_for(static_cast<std::size_t>(s), threads, [&](std::size_t i) {
    std::vector<float> row(static_cast<std::size_t>(v));
    visit_dtype(logits.dtype(), [&]<class T>() {
      const T* from = logits.data<T>() + (static_cast<Index>(i) * b + sample) * v;
      std::transform(from, from + v, row.begin(), [](T x) { return static_cast<float>(x); });
    });
    const auto first = i * static_cast<std::size_t>(k), count = static_cast<std::size_t>(k);
    take_likeliest(row, std::span(result.ids).subspan(first, count),
                   std::span(result.log_probs).subspan(first, count));
  });
  return result;
}

}  // namespace

void TeacherPass::run() const {
  const Timer timer;
  const config::DistillationFiles& files = config_.data.distillation;
  const auto rows = distinct_rows(data_, config_, [](std::uint64_t) { return false; });
  const Index s = config_.training.seq_length;
  const Index k = std::min(files.top_k, config_.model.padded_vocab_size);
  const std::filesystem::path part = *files.output + ".part";
  TeacherFile::Layout layout;
  checkpoint::on_member_0(*model_.world().all(), [&] {
    std::vector<std::uint64_t> keys;
    for (Index i = 0; i < rows->size(); ++i) {
      keys.push_back(rows->row(i).key);
    }
    layout = TeacherFile::create(part, keys, s, k);
  });
  double offsets[] = {static_cast<double>(layout.ids), static_cast<double>(layout.log_probs)};
  model_.world().all()->broadcast({offsets, DType::f64, {2}}, 0).wait();
  checkpoint::PosixFile file(part, checkpoint::PosixFile::Mode::modify);
  auto [stream, batches] = whole_set(rows, rows->size(), config_, data_, model_);
  const auto write = [&](const tensor::Tensor& logits, const DeviceMicrobatch& microbatch) {
    const tensor::Tensor host = tensor::to_host(step_.device(), logits);
    const Index mine = model_.groups().tensor->rank() == 0 ? microbatch.samples : 0;
    for (Index i = 0; i < mine && microbatch.first_sample + i < rows->size(); ++i) {
      const LikeliestWords words = likeliest(host, i, k, config_.data.num_dataset_builder_threads);
      const Index begin = (microbatch.first_sample + i) * s * k * 4;  // both have 4 bytes
      file.write(static_cast<Index>(offsets[0]) + begin, words.ids.data(), s * k * 4);
      file.write(static_cast<Index>(offsets[1]) + begin, words.log_probs.data(), s * k * 4);
    }
  };
  for (Index i = 0; i < batches; ++i) {
    step_.logits(stream.next(), write);
  }
  file.sync();
  model_.world().all()->barrier();
  checkpoint::on_member_0(*model_.world().all(),
                          [&] { checkpoint::move_into_place(part, *files.output); });
  log::print(fmt::format("  {}: the {} likeliest words of {} samples, in {:.1f} s", *files.output,
                         k, rows->size(), timer.seconds()));
}

}  // namespace mpitron::train
