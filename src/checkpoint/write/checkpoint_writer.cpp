#include "checkpoint/write/checkpoint_writer.h"

#include <chrono>
#include <future>
#include <thread>

#include "checkpoint/plan/agreement.h"
#include "checkpoint/plan/rank_share.h"
#include "checkpoint/write/background_writer.h"
#include "checkpoint/write/file_scheme.h"
#include "checkpoint/write/share_copier.h"
#include "checkpoint/write/staging_ring.h"
#include "utils/error.h"
#include "utils/timer.h"

// A save from the first call to the commit. Rank 0 makes the file while all ranks copy their share
// to memory of their own (share_copier.h); a thread writes it (background_writer.h) while training
// goes on; `finish` collects hashes and errors of all and commits, or removes what is there.

namespace mpitron::checkpoint {
namespace {

constexpr Index kGatherStaging = Index{64} << 20;  // enough where only gathered rows are staged

}  // namespace

/// Everything that stays the same while the ranks' tensors do.
struct CheckpointWriter::Plan {
  Description own;
  std::vector<DataSet> data_sets;
  RankShare share;
  Index total_bytes = 0;
  double imbalance = 1;
  Index share_bytes = 0, gathered_bytes = 0, largest_block = 0;  // of this rank
  std::unique_ptr<StagingRing> ring;

  Index most_staging(const WriterOptions& options) const {
    return std::max(options.staging_bytes, 4 * largest_block);
  }
  /// Returns the staging memory that takes everything at once.
  Index wanted_staging(bool asynchronous, const WriterOptions& options) const {
    const Index wanted = asynchronous ? share_bytes : std::min(gathered_bytes, kGatherStaging);
    // Blocks begin at pages, and some room is lost where the ring closes.
    const Index blocks = static_cast<Index>(share.writes.size() + share.gathers.size()) +
                         wanted / options.write_bytes;
    return wanted == 0 ? 0 : wanted + blocks * 4096 + 2 * largest_block;
  }
};

/// A save in flight.
struct CheckpointWriter::Save {
  Folder folder;
  Index iteration;
  Timer timer;
  std::string error;  // of all ranks: nothing is being written
  std::unique_ptr<FileScheme> scheme;
  std::future<std::string> file;  // of rank 0, until writing starts: what the scheme created
  bool started = false;
  std::unique_ptr<BackgroundWriter> writer;
  std::shared_ptr<CopyQueue> copies;  // not known to be done
  bool written = false;               // by all ranks
  std::future<std::string> commit;    // of rank 0, after that: its error
  double blocked_seconds = 0;
};

CheckpointWriter::CheckpointWriter(comm::World& world, const WriterOptions& options)
    : world_(world), group_(world.all()), options_(options) {}

CheckpointWriter::~CheckpointWriter() = default;

/// Keeps plan and staging memory from save to save, since a run's tensors stay the same.
void CheckpointWriter::prepare(const Request& request) {
  Description own(request.tensors);
  const bool changed = plan_ == nullptr || !(plan_->own == own);
  // All ranks plan anew where the tensors of one have changed: planning is collective.
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
    const Index wanted = std::min(plan_->most_staging(options_),
                                  plan_->wanted_staging(request.asynchronous, options_));
    if (wanted > plan_->ring->capacity()) {
      plan_->ring = std::make_unique<StagingRing>();  // first, so that there are never two
      plan_->ring = std::make_unique<StagingRing>(wanted);
    }
  }));
  if (!error.empty()) {
    throw_environment("{}", error);
  }
}

/// Chooses when the copies are made: later, beside training, where all ranks have room for their
/// whole share; now, as fast as blocks are written, where one has not; and never where the caller
/// waits for the save.
void CheckpointWriter::save(const Request& request) {
  MPITRON_CHECK(save_ == nullptr, request.iteration);
  save_ = std::make_unique<Save>(Folder(request.root), request.iteration);
  prepare(request);
  begin_file(request);
  const bool room =
      plan_->wanted_staging(request.asynchronous, options_) <= plan_->ring->capacity();
  const bool later =
      request.asynchronous && group_->reduce(room ? 1 : 0, comm::Reduction::minimum) > 0;
  save_->writer = std::make_unique<BackgroundWriter>(*save_->scheme, options_.trace);
  if (!later) {
    start_writing();
  }
  if (save_->error.empty()) {
    const Snapshot snapshot = later                  ? Snapshot::later
                              : request.asynchronous ? Snapshot::now
                                                     : Snapshot::none;
    ShareCopier copier({world_, *group_, *plan_->ring, *save_->writer, options_.write_bytes},
                       request.tensors, plan_->data_sets);
    save_->copies = copier.run(plan_->share, snapshot);
  }
  save_->writer->close();
  save_->blocked_seconds += save_->timer.seconds();
}

/// Makes the file on rank 0, beside the copies: allocating it takes as long as many of them.
void CheckpointWriter::begin_file(const Request& request) {
  const Index rank = group_->rank();
  SaveContents contents{.path = save_->folder.unfinished_file(request.iteration),
                        .header = rank == 0 ? *request.header : Header{},
                        .data_sets = plan_->data_sets};
  save_->scheme = options_.file_per_writer
                      ? make_file_per_writer(std::move(contents), rank,
                                             ranges_of(plan_->share, plan_->data_sets))
                      : make_shared_file(std::move(contents));
  if (rank == 0) {
    save_->file = std::async(std::launch::async, [save = save_.get()] {
      save->folder.begin(save->iteration);
      return save->scheme->create();
    });
  }
}

/// Tells all ranks what the scheme made of the folder, or why there is none.
void CheckpointWriter::start_writing() {
  save_->started = true;
  std::string created;
  save_->error = first_error(*group_, error_of([&] {
    if (group_->rank() == 0) {
      created = save_->file.get();
    }
  }));
  if (save_->error.empty()) {
    save_->writer->start(broadcast_text(*group_, created, 0));
  } else {
    save_->writer->cancel();
  }
}

void CheckpointWriter::wait_for_copies() {
  if (save_ != nullptr && save_->copies != nullptr) {
    const Timer timer;
    save_->copies->finish();
    save_->copies.reset();
    save_->blocked_seconds += timer.seconds();
  }
}

/// Returns whether the present stage of the save has ended on all ranks.
bool CheckpointWriter::stage_done() {
  const auto ready = [](const auto& future) {
    return !future.valid() || future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  const bool done = !save_->started  ? ready(save_->file)
                    : save_->written ? ready(save_->commit)
                                     : save_->writer->done();
  return group_->reduce(done ? 1 : 0, comm::Reduction::minimum) > 0;
}

/// Goes through the stages of a save, each ended on all ranks before the next begins. After an
/// error rank 0 removes what was written.
std::optional<SaveReport> CheckpointWriter::finish(bool wait) {
  if (save_ == nullptr) {
    return std::nullopt;
  }
  const Timer timer;
  // Making the file, writing, and what comes after that.
  for (bool ended = false; !ended;) {
    if (stage_done()) {
      ended = save_->written || !save_->error.empty();
      if (!save_->started) {
        start_writing();
      } else if (!ended) {
        complete();
      }
    } else if (wait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      save_->blocked_seconds += timer.seconds();
      return std::nullopt;
    }
  }
  if (save_->error.empty()) {
    const bool commits = save_->commit.valid();
    save_->error = first_error(*group_, commits ? save_->commit.get() : std::string());
  }
  if (!save_->error.empty() && group_->rank() == 0) {
    std::error_code ignored;
    std::filesystem::remove_all(save_->folder.unfinished_file(save_->iteration).parent_path(),
                                ignored);
  }
  save_->blocked_seconds += timer.seconds();
  const SaveReport report = make_report();
  save_.reset();
  return report;
}

/// Begins the commit with what every rank has written, or takes the first error of any of them. The
/// rest goes on beside training: syncs may take long.
void CheckpointWriter::complete() {
  save_->written = true;
  std::string error = save_->writer->error();
  if (!error.empty()) {
    error = fmt::format("rank {} on {}: {}", group_->rank(), world_.host(group_->rank()), error);
  }
  save_->error = first_error(*group_, error);
  if (!save_->error.empty()) {
    return;
  }
  std::vector<std::string> closed = collect_texts(*group_, save_->writer->closed_text());
  if (group_->rank() == 0) {
    save_->commit =
        std::async(std::launch::async, [save = save_.get(), closed = std::move(closed)] {
          return error_of([&] {
            save->scheme->complete(closed);
            save->folder.commit(save->iteration);
          });
        });
  }
}

/// Times are those of the slowest rank, by collective calls.
SaveReport CheckpointWriter::make_report() {
  const auto slowest = [this](double seconds) {
    return group_->reduce(seconds, comm::Reduction::maximum);
  };
  return {.iteration = save_->iteration,
          .error = save_->error,
          .blocked_seconds = slowest(save_->blocked_seconds),
          .background_seconds = slowest(save_->writer->seconds()),
          .total_seconds = slowest(save_->timer.seconds()),
          .bytes = plan_->total_bytes};
}

Index CheckpointWriter::staging_bytes() const {
  return plan_ != nullptr ? plan_->ring->capacity() : 0;
}

double CheckpointWriter::imbalance() const {
  return plan_ != nullptr ? plan_->imbalance : 1;
}

}  // namespace mpitron::checkpoint
