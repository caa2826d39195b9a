#include "checkpoint/read/checkpoint_reader.h"

#include <fmt/format.h>

#include "checkpoint/folders/verify.h"
#include "checkpoint/plan/agreement.h"
#include "checkpoint/read/parallel_read.h"
#include "utils/error.h"
#include "utils/timer.h"

// Loads into any layout. Each rank reads the parts of the file that its tensors need; values are
// converted to the type that the run wants. Extents that are read are compared with their hashes,
// each by one rank for all.

namespace mpitron::checkpoint {
namespace {

/// Opens the file on rank 0 and tells the others: where it cannot, all end with its message instead
/// of many alike.
File open_once(comm::Group& group, const std::filesystem::path& path) {
  std::string metadata;
  on_member_0(group, [&] { metadata = File(path).serialize(); });
  return File::deserialize(broadcast_text(group, metadata, 0));
}

/// Returns whether shape and type fit, but for the number of rows where that may differ.
bool fits(const DataSet& data_set, const tensor::ShardedTensor& tensor) {
  Shape wanted = tensor.shape;
  if (tensor.rows_may_differ && wanted.rank() > 0 && data_set.shape.rank() == wanted.rank()) {
    wanted[0] = data_set.shape[0];
  }
  return data_set.shape == wanted && convertible(data_set.dtype, tensor.value.dtype);
}

/// Writes type and shape for the table of differences.
std::string say(DType dtype, const Shape& shape) {
  return fmt::format("{} {}", name_of(dtype), to_string(shape));
}

}  // namespace

CheckpointReader::CheckpointReader(comm::World& world, const std::filesystem::path& path)
    : group_(world.all()), file_(open_once(*group_, path)) {}

/// Returns the first of the target's sources that the file has; a target without sources is read
/// under its own name.
const DataSet* CheckpointReader::source_of(const LoadTarget& target) const {
  for (const std::string& name : target.sources) {
    if (const DataSet* const data_set = file_.find(name)) {
      return data_set;
    }
  }
  return target.sources.empty() ? file_.find(target.tensor.name) : nullptr;
}

/// Reads no data. A data set is unexpected where no rank wants it; all ranks get the differences of
/// all, each once.
LoadReport CheckpointReader::compare(std::span<const LoadTarget> targets) {
  const std::vector<DataSet>& data_sets = file_.data_sets();
  std::vector<std::uint8_t> used(data_sets.size() + 1);  // never empty
  LoadReport report;
  for (const LoadTarget& target : targets) {
    const tensor::ShardedTensor& tensor = target.tensor;
    const DataSet* const data_set = source_of(target);
    const std::string wanted = say(tensor.value.dtype, tensor.shape);
    if (data_set == nullptr) {
      report.differences.push_back({LoadReport::Kind::missing, tensor.name, "", wanted});
      continue;
    }
    used[static_cast<std::size_t>(data_set - data_sets.data())] = 1;
    if (!fits(*data_set, tensor)) {
      report.differences.push_back({LoadReport::Kind::mismatched, tensor.name,
                                    say(data_set->dtype, data_set->shape), wanted});
    }
  }
  group_
      ->all_reduce({used.data(), DType::u8, {static_cast<Index>(used.size())}},
                   comm::Reduction::maximum)
      .wait();
  for (std::size_t i = 0; i < data_sets.size(); ++i) {
    if (used[i] == 0) {
      report.differences.push_back({LoadReport::Kind::unexpected, data_sets[i].name,
                                    say(data_sets[i].dtype, data_sets[i].shape), ""});
    }
  }
  LoadReport all;
  std::string merged;
  for (const std::string& text : gather_texts(*group_, report.serialize())) {
    merged += text;
  }
  all.merge(merged);
  return all;
}

/// Leaves out targets that do not fit: the caller has judged `compare`'s report before.
LoadStatistics CheckpointReader::read(std::span<const LoadTarget> targets) {
  const Timer timer;
  LoadStatistics statistics;
  ReadOutcome outcome;
  throw_first_error(*group_, error_of([&] {
    std::vector<ReadRequest> requests;
    for (const LoadTarget& target : targets) {
      const tensor::ShardedTensor& tensor = target.tensor;
      const DataSet* const data_set = source_of(target);
      if (data_set == nullptr || !fits(*data_set, tensor)) {
        continue;
      }
      MPITRON_CHECK(tensor.value.contiguous(), tensor.name);
      requests.push_back({.data_set = *data_set,
                          .map = ShardMap(tensor.shape, tensor.shard),
                          .begin = tensor.begin,
                          .end = tensor.begin + tensor.value.numel(),
                          .limit = data_set->shape.numel(),
                          .to = tensor.value.data,
                          .dtype = tensor.value.dtype});
    }
    outcome = parallel_read(
        file_, requests,
        {.begin = static_cast<double>(group_->rank()) / static_cast<double>(group_->size())});
  }));
  statistics.bytes = outcome.bytes;
  check_extents(outcome);
  statistics.seconds = timer.seconds();
  return statistics;
}

/// Divides the extents of which no rank needed the whole among all, to be read once more and
/// hashed.
void CheckpointReader::check_extents(ReadOutcome& outcome) {
  outcome.extents.push_back(ExtentUse::unused);  // never empty
  group_
      ->all_reduce(
          {outcome.extents.data(), DType::u8, {static_cast<Index>(outcome.extents.size())}},
          comm::Reduction::maximum)
      .wait();
  std::vector<Index> own;
  Index open = 0;
  for (std::size_t i = 0; i < outcome.extents.size(); ++i) {
    if (outcome.extents[i] == ExtentUse::used && open++ % group_->size() == group_->rank()) {
      own.push_back(static_cast<Index>(i));
    }
  }
  throw_first_error(*group_, error_of([&] {
    std::vector<Damage> damaged = verify_extents(file_, own).damaged;
    for (const Index i : outcome.damaged) {
      const Extent& extent = file_.extents()[static_cast<std::size_t>(i)];
      const std::vector<Damage> found = damages(file_, extent, kBytesDiffer);
      damaged.insert(damaged.end(), found.begin(), found.end());
    }
    if (!damaged.empty()) {
      throw_data("{}", damage_text(file_, damaged));
    }
  }));
}

}  // namespace mpitron::checkpoint
