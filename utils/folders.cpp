#include "utils/folders.h"

#include "utils/error.h"

namespace mpitron {

void make_folder(std::string_view option, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw_data("{} {}: cannot make the folder: {}", option, folder.string(), failed.message());
  }
}

}  // namespace mpitron
