#include <numeric>

#include "cli/evaluation/task_runs.h"
#include "tensor/host_copy.h"

// Evaluation through the training stack: a forward pass of the run's own model in its layout, from
// which ranks take label losses (make_layout_scorer) or rows of logits (make_layout_engine). It is
// slower than generation with a cache and works for every model and layout that trains.

namespace mpitron::cli {
namespace {

using inference::TokenBatch;
using inference::TokenScores;
using tensor::Tensor;

/// Lengths are padded to a multiple of this: kStep keeps the number of different shapes low, 2 c t
/// is what context and sequence parallel ranks cut. Pipeline stages exchange tensors of one size,
/// so there every sequence has --seq-length.
Index length_step(const config::RunConfig& config) {
  constexpr Index kStep = 64;
  const config::ParallelConfig& p = config.parallel;
  if (p.pipeline_model_parallel_size > 1) {
    return config.training.seq_length;
  }
  return std::lcm(kStep, 2 * p.context_parallel_size * p.tensor_model_parallel_size);
}

/// Runs one forward pass of `batch`; calls visit(logits [s, b, v], what is where) where the last
/// stage holds them. One tensor rank alone visits, since sums over all ranks would count the others
/// again.
template <class Visit>
void run_pass(train::Session& session, const TokenBatch& batch, const Visit& visit) {
  const std::vector<float> mask(batch.tokens.size(), 1.f);
  const train::HostMicrobatch microbatch{.samples = batch.rows,
                                         .sequence_length = batch.length,
                                         .columns = {{models::kTokens, batch.tokens},
                                                     {models::kLabels, batch.labels},
                                                     {models::kLossMask, mask}}};
  const bool counts = session.model().groups().tensor->rank() == 0;
  session.step().logits(microbatch,
                        [&](const Tensor& logits, const train::DeviceMicrobatch& shape) {
                          if (counts) {
                            visit(logits, shape);
                          }
                        });
}

/// Replicas score different windows and add their sums in double over all ranks.
inference::WindowScorer::Options scorer_options(train::Session& session) {
  const config::RunConfig& config = session.config();
  const comm::ParallelGroups& groups = session.model().groups();
  return {.longest = config.training.seq_length,
          .batch_size = config.training.micro_batch_size,
          .length_step = length_step(config),
          .padding = session.tokenizer().eod(),
          .replicas = groups.data->size(),
          .replica = groups.data->rank(),
          .sum = [all = session.model().world().all()](std::span<double> numbers) {
            const auto count = static_cast<Index>(numbers.size());
            all->all_reduce({numbers.data(), DType::f64, {count}}).wait();
          }};
}

/// Copies the rows from `first_row` on that this rank has to `rows` [n * v]; other rows stay as
/// they are, so that a sum over ranks completes them.
void take_rows(const Tensor& logits, const train::DeviceMicrobatch& shape, Index first_row,
               std::span<float> rows) {
  const Index columns = logits.shape()[2];
  visit_dtype(logits.dtype(), [&]<class T>() {
    for (Index i = 0; i < logits.shape()[0]; ++i) {
      const Index row = shape.positions(i) - first_row;
      if (row < 0 || row * columns >= static_cast<Index>(rows.size())) {
        continue;
      }
      for (Index j = 0; j < columns; ++j) {
        rows[static_cast<std::size_t>(row * columns + j)] =
            static_cast<float>(logits.data<T>()[i * columns + j]);
      }
    }
  });
}

}  // namespace

inference::WindowScorer make_layout_scorer(device::Device& device, train::Session& session) {
  return {scorer_options(session), [&](const TokenBatch& batch, TokenScores& scores) {
            run_pass(
                session, batch, [&](const Tensor& logits, const train::DeviceMicrobatch& shape) {
                  const inference::LabelScores found =
                      inference::score_labels(device, logits, shape.batch[models::kLabels]);
                  const Index b = batch.rows;
                  for (Index i = 0; i < found.losses.numel(); ++i) {
                    const Index position = shape.positions(i / b);
                    const auto place = static_cast<std::size_t>(i % b * batch.length + position);
                    scores.losses[place] = static_cast<double>(found.losses.data<float>()[i]);
                    scores.misses[place] = 1 - static_cast<double>(found.matches.data<float>()[i]);
                  }
                });
          }};
}

std::unique_ptr<inference::Engine> make_layout_engine(train::Session& session) {
  constexpr Index kBlock = 16, kTexts = 8;
  const config::RunConfig& config = session.config();
  const Index length = config.training.seq_length, columns = config.model.padded_vocab_size;
  const inference::EngineShape shape{.block_size = kBlock,
                                     .blocks = (length + kBlock - 1) / kBlock * kTexts,
                                     .slots = kTexts,
                                     .max_step_tokens = std::max<Index>(length, kTexts),
                                     .max_positions = length,
                                     .vocabulary = session.tokenizer().vocab_size(),
                                     .padded_vocabulary = columns};
  const Index step = length_step(config);
  return std::make_unique<inference::UncachedEngine>(
      shape, [&session, step, length, columns](const tokenizers::TokenIds& text, Index first_row,
                                               std::vector<float>& rows) {
        const auto count = static_cast<Index>(text.size());
        TokenBatch batch{.rows = 1, .length = std::min((count + step - 1) / step * step, length)};
        batch.tokens.assign(text.begin(), text.end());
        batch.tokens.resize(static_cast<std::size_t>(batch.length), session.tokenizer().eod());
        batch.labels = batch.tokens;
        std::vector<float> own(static_cast<std::size_t>((count - first_row) * columns));
        const bool first_replica = session.model().groups().data->rank() == 0;
        run_pass(session, batch, [&](const Tensor& logits, const train::DeviceMicrobatch& where) {
          if (first_replica) {
            take_rows(tensor::to_host(session.step().device(), logits), where, first_row, own);
          }
        });
        // One rank alone has numbers for a row.
        session.model()
            .world()
            .all()
            ->all_reduce({own.data(), DType::f32, {static_cast<Index>(own.size())}})
            .wait();
        rows.insert(rows.end(), own.begin(), own.end());
      });
}

}  // namespace mpitron::cli
