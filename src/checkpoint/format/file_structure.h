#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/format/file.h"

// The groups, attributes and names that files of all schemas have in common.

namespace mpitron::checkpoint {

/// Groups beside those of the data sets: embedded files, counters and texts, tables.
constexpr std::array<std::string_view, 3> kReserved = {"files", "state", "integrity"};
constexpr const char* kExtentsName = "integrity/extents";
/// Attribute of the root group of one writer's file.
constexpr const char* kWriterAttribute = "writer";

/// Makes a new file with room for data sets, whose offsets it returns; `describe` writes the rest
/// of the structure. Error(data) names the file, also where the disk has no room.
std::vector<DataSet> allocate_file(const std::filesystem::path& path,
                                   std::vector<DataSet> data_sets,
                                   const std::function<void(io::Hdf5File&)>& describe);

/// Writes attributes, state and embedded files, and the reserved groups.
void write_header(io::Hdf5File& file, const Header& header, bool complete);
/// Reads them. Error(data) with `path` where something is missing, or the file is not marked
/// complete.
Header read_header(const io::Hdf5File& file, const std::string& path);

/// Checks (MPITRON_CHECK) that a path from the root group is one that HDF5 takes literally and that
/// is nobody else's.
void check_name(const std::string& name);

/// Stretches [first, second) of a file; touching ones are joined, so that equal coverage compares
/// equal.
using Coverage = std::vector<std::pair<Index, Index>>;
Coverage coverage_of(const std::vector<Extent>& extents);
Coverage coverage_of(const std::vector<DataSet>& data_sets);

}  // namespace mpitron::checkpoint
