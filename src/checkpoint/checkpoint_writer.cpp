#include "checkpoint/checkpoint_writer.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "checkpoint/agreement.h"
#include "checkpoint/background_writer.h"
#include "checkpoint/rank_share.h"
#include "checkpoint/share_copier.h"
#include "checkpoint/staging_ring.h"
#include "utils/error.h"
#include "utils/timer.h"

namespace mpitron::checkpoint {
namespace {

constexpr Index kGatherStaging = Index{64} << 20;  // enough where only gathered rows are staged

template <class T>
std::string pack(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> unpack(const std::string& text) {
  std::vector<T> values(text.size() / sizeof(T));
  std::memcpy(values.data(), text.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

/// What stays the same while the ranks' tensors do.
struct CheckpointWriter::Plan {
  Description own;
  std::vector<DataSet> data_sets;
  RankShare share;
  Index total_bytes = 0;
  double imbalance = 1;
  Index share_bytes = 0, gathered_bytes = 0, largest_block = 0;  // of this rank
  std::unique_ptr<StagingRing> ring;

  Index wanted_staging(bool asynchronous, const WriterOptions& options) const {
    const Index most = std::max(options.staging_bytes, 4 * largest_block);
    const Index wanted = asynchronous ? share_bytes : std::min(gathered_bytes, kGatherStaging);
    // Blocks begin at pages, and some room is lost where the ring closes.
    const Index blocks = static_cast<Index>(share.writes.size() + share.gathers.size()) +
                         wanted / options.write_bytes;
    return wanted == 0 ? 0 : std::min(most, wanted + blocks * 4096 + 2 * largest_block);
  }
};

/// A save in flight.
struct CheckpointWriter::Save {
  Folder folder;
  Index iteration;
  Timer timer;
  std::string error;  // of all ranks: nothing is being written
  std::unique_ptr<BackgroundWriter> writer;
  double blocked_seconds = 0;
};

CheckpointWriter::CheckpointWriter(comm::World& world, const WriterOptions& options)
    : world_(world), group_(world.all()), options_(options) {}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::prepare(const Request& request) {
  Description own(request.tensors);
  const bool changed = plan_ == nullptr || !(plan_->own == own);
  if (group_->reduce(changed ? 1 : 0, comm::Reduction::maximum) > 0) {
    auto plan = std::make_unique<Plan>();
    const Holdings holdings = gather_holdings(*group_, own);
    const SavePlan save_plan = plan_save(holdings);
    plan->share = share_of(save_plan, holdings, group_->rank());
    plan->data_sets = holdings.data_sets;
    plan->total_bytes = save_plan.total_bytes();
    plan->imbalance = save_plan.imbalance();
    plan->share_bytes = save_plan.rank_bytes[static_cast<std::size_t>(group_->rank())];
    plan->largest_block = options_.write_bytes;
    for (const RankShare::Gather& gather : plan->share.gathers) {
      const auto data_set = static_cast<std::size_t>(gather.data_set);
      const Index bytes = (gather.end - gather.begin) *
                          static_cast<Index>(size_of(holdings.data_sets[data_set].dtype));
      plan->gathered_bytes += bytes;
      plan->largest_block = std::max(plan->largest_block, bytes);
    }
    plan->own = std::move(own);
    plan->ring = plan_ != nullptr ? std::move(plan_->ring) : std::make_unique<StagingRing>();
    plan_ = std::move(plan);
  }
  const std::string error = first_error(*group_, error_of([&] {
    const Index wanted = plan_->wanted_staging(request.asynchronous, options_);
    if (wanted > plan_->ring->capacity()) {
      plan_->ring = std::make_unique<StagingRing>();  // first, so that there are never two
      plan_->ring = std::make_unique<StagingRing>(wanted);
    }
  }));
  if (!error.empty()) {
    throw_environment("{}", error);
  }
}

void CheckpointWriter::save(const Request& request) {
  MPITRON_CHECK(save_ == nullptr, request.iteration);
  save_ = std::make_unique<Save>(Folder(request.root), request.iteration);
  prepare(request);
  const std::filesystem::path path = save_->folder.unfinished_file(request.iteration);
  std::string layout;
  save_->error = first_error(*group_, error_of([&] {
    if (group_->rank() == 0) {
      save_->folder.begin(request.iteration);
      std::vector<Index> offsets;
      for (const DataSet& data_set : create_file(path, *request.header, plan_->data_sets)) {
        offsets.push_back(data_set.offset);
      }
      layout = pack(offsets);
    }
  }));
  if (save_->error.empty()) {
    const auto offsets = unpack<Index>(broadcast_text(*group_, layout, 0));
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      plan_->data_sets[i].offset = offsets[i];
    }
    save_->writer = std::make_unique<BackgroundWriter>(path);
    ShareCopier copier({world_, *group_, *plan_->ring, *save_->writer, options_.write_bytes},
                       request.tensors, plan_->data_sets);
    copier.run(plan_->share, request.asynchronous);
    save_->writer->close();
  }
  save_->blocked_seconds += save_->timer.seconds();
}

bool CheckpointWriter::all_done() {
  const bool done = save_->writer == nullptr || save_->writer->done();
  return group_->reduce(done ? 1 : 0, comm::Reduction::minimum) > 0;
}

std::optional<SaveReport> CheckpointWriter::finish(bool wait) {
  if (save_ == nullptr) {
    return std::nullopt;
  }
  const Timer timer;
  while (!all_done()) {
    if (!wait) {
      save_->blocked_seconds += timer.seconds();
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  SaveReport report{.iteration = save_->iteration, .bytes = plan_->total_bytes};
  if (save_->error.empty()) {
    save_->error = commit();
  }
  if (!save_->error.empty() && group_->rank() == 0) {
    std::error_code ignored;
    std::filesystem::remove_all(save_->folder.unfinished_file(save_->iteration).parent_path(),
                                ignored);
  }
  report.error = save_->error;
  save_->blocked_seconds += timer.seconds();
  const double background = save_->writer != nullptr ? save_->writer->seconds() : 0;
  report.blocked_seconds = group_->reduce(save_->blocked_seconds, comm::Reduction::maximum);
  report.background_seconds = group_->reduce(background, comm::Reduction::maximum);
  report.total_seconds = group_->reduce(save_->timer.seconds(), comm::Reduction::maximum);
  save_.reset();
  return report;
}

/// Returns the first error of any rank.
std::string CheckpointWriter::commit() {
  std::string error = save_->writer->error();
  if (!error.empty()) {
    error = fmt::format("rank {} on {}: {}", group_->rank(), world_.host(group_->rank()), error);
  }
  error = first_error(*group_, error);
  const Folder& folder = save_->folder;
  const std::filesystem::path path = folder.unfinished_file(save_->iteration);
  if (error.empty()) {
    const std::vector<std::string> all = collect_texts(*group_, pack(save_->writer->extents()));
    error = first_error(*group_, error_of([&] {
      if (group_->rank() == 0) {
        std::vector<Extent> extents;
        for (const std::string& text : all) {
          const auto part = unpack<Extent>(text);
          extents.insert(extents.end(), part.begin(), part.end());
        }
        seal_file(path, std::move(extents));
        folder.commit(save_->iteration);
      }
    }));
  }
  return error;
}

Index CheckpointWriter::staging_bytes() const {
  return plan_ != nullptr ? plan_->ring->capacity() : 0;
}

double CheckpointWriter::imbalance() const {
  return plan_ != nullptr ? plan_->imbalance : 1;
}

}  // namespace mpitron::checkpoint
