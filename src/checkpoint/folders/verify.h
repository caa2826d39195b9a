#pragma once
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"

namespace mpitron::checkpoint {

/// A stretch of bytes that are not as they were written.
struct Damage {
  std::string data_set;
  std::string file;  // name of the writer's file; empty where all ranks share one
  Index offset = 0;  // in the file, of the damaged extent's part in this data set
  Index bytes = 0;
  std::string reason;  // a failed read; otherwise the hashes differ

  /// Returns "model/x: bytes 4096 to 8191 of the file differ from what was written"; or "of
  /// writer_00003.h5".
  std::string sentence() const;
};

/// Returns the damage of an extent, for each data set that it has a part of.
std::vector<Damage> damages(const File& file, const Extent& extent, const std::string& reason);

/// Returns "PATH: is damaged: SENTENCE, and N more"; an empty text where nothing is.
std::string damage_text(const File& file, const std::vector<Damage>& damaged);

constexpr const char* kBytesDiffer = "differ from what was written";

/// The result of hashing a checkpoint's data.
struct Verification {
  std::vector<Damage> damaged;  // by file and offset
  Index bytes = 0;              // that were hashed
  double seconds = 0;
};

/// Called from time to time, from any thread, one at a time: hashed bytes of all bytes.
using VerifyProgress = std::function<void(Index done, Index all, double seconds)>;

/// Hashes all data on all cores. (Opening the file has already checked everything else.)
Verification verify(const File& file, const VerifyProgress& progress = {});
/// Hashes some of its extents, by their indices.
Verification verify_extents(const File& file, const std::vector<Index>& extents,
                            const VerifyProgress& progress = {});

}  // namespace mpitron::checkpoint
